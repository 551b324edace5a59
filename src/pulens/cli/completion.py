"""pulens completion"""

from __future__ import annotations

import click

SHELLS = ("bash", "zsh", "fish")


@click.command(name="completion")
@click.argument("shell", type=click.Choice(SHELLS))
def command(shell: str) -> None:
    """Print the script that lets a shell complete commands and options.

    \b
    Examples:
      eval "$(pulens completion bash)"     # in ~/.bashrc
      eval "$(pulens completion zsh)"      # in ~/.zshrc
      pulens completion fish > ~/.config/fish/completions/pulens.fish
    """
    from click.shell_completion import get_completion_class

    from pulens.cli import app

    result = get_completion_class(shell)
    assert result is not None
    click.echo(result(app, {}, "pulens", "_PULENS_COMPLETE").source())
