"""What metrics are made of: their facts, their value and doubt, their range where labels are not random."""
