"""Options of commands, and the requests that they fill."""
