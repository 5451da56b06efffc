"""Starts agentr's programs: those of the wheel, of AGENTR_BIN, or on the PATH."""

import os
import shutil
import subprocess
import sys

# What needs LibTorch, which no wheel brings along.
TRAINING = ("agent_train", "self_train", "agent_rl")

_INSTALLED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "_programs", "bin")


class ProgramError(Exception):
    """A program ended with another exit code than 0; `code` is it, and `output` the end of what it said."""

    def __init__(self, name, code, output):
        super().__init__(f"{name} ended with exit code {code}\n{output}".rstrip())
        self.code = code
        self.output = output


def program(name):
    """The path of a program. Raises FileNotFoundError that says where it was looked for."""
    for folder in (os.environ.get("AGENTR_BIN"), _INSTALLED):
        if folder and os.access(os.path.join(folder, name), os.X_OK):
            return os.path.join(folder, name)
    # Not the wheel's own launchers, which would look here again.
    launchers = os.path.dirname(os.path.abspath(sys.argv[0])) if sys.argv[0] else None
    folders = [folder for folder in os.environ.get("PATH", "").split(os.pathsep) if folder != launchers]
    found = shutil.which(name, path=os.pathsep.join(folders))
    if not found:
        missing = f"there is no program {name} in the package, in AGENTR_BIN or on the PATH"
        if name in TRAINING:
            missing += (". It trains with LibTorch, which is not in the wheel, with agentr[train] neither: install the "
                        "Debian package or the conda package, or build it (docs/install.md of the sources), and give "
                        "its folder in AGENTR_BIN")
        raise FileNotFoundError(missing)
    return found


def arguments(*positional, **options):
    """['--max=40', …]: a list gives an option several times, True and False are 1 and 0, None leaves it out."""
    result = [os.fspath(value) for value in positional]
    for name, value in options.items():
        for one in value if isinstance(value, (list, tuple)) else [value]:
            if one is None:
                continue
            text = str(int(one)) if isinstance(one, bool) else str(one)
            result.append(f"--{name}={text}")
    return result


def run(name, *positional, quiet=False, cwd=None, **options):
    """Runs a program to its end and returns what it printed; run("mcts_collect", task="webshop", max=10).

    Its output is also shown while it runs, unless `quiet`; messages go to the standard error output as they
    always do. Raises ProgramError if its exit code is not 0.
    """
    command = [program(name)] + arguments(*positional, **options)
    process = subprocess.Popen(command, cwd=cwd, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE if quiet else None, encoding="utf-8",
                               errors="replace")
    if quiet:
        out, err = process.communicate()
    else:
        lines, err = [], ""
        for line in process.stdout:
            print(line, end="", flush=True)
            lines.append(line)
        out = "".join(lines)
        process.wait()
    if process.returncode != 0:
        raise ProgramError(name, process.returncode, (out + err)[-2000:])
    return out


def launch():
    """The wheel's launchers: becomes the program whose name the launcher has."""
    try:
        path = program(os.path.basename(sys.argv[0]))
    except FileNotFoundError as error:
        sys.exit(f"error: {error}")
    os.execv(path, [path] + sys.argv[1:])
