"""Errors that are the user's to mend."""


class UserError(Exception):
    """A mistake in the input: its message is one line that names the place and the remedy.

    The command line prints the message without a traceback and exits with status 2.
    """

    def __init__(self, message: str, remedy: str = "") -> None:
        line = " ".join(message.split())
        if remedy:
            line = f"{line.rstrip('.')}. {' '.join(remedy.split())}"
        super().__init__(line)
