"""How an interval is made."""
