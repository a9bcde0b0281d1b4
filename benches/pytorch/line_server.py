"""A peer's side of the protocol: one JSON command per line in, one JSON answer per line out."""

import json
import sys


def serve(**commands):
    """Answers until the input ends or asks to quit. A command's other fields are its function's arguments."""
    commands.setdefault("ready", dict)
    for line in sys.stdin:
        fields = json.loads(line)
        command = fields.pop("command")
        if command == "quit":
            return
        try:
            answer = commands[command](**fields)
        except Exception as error:  # The other side decides what becomes of it.
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), flush=True)
