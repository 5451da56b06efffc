"""Serves a Python object as an environment that agentr's programs can search.

    from agentr_env import serve

    class Game:
        def reset(self, task):     # the first observation of a task, which is a number from 0 on
            return "I think of a number."
        def step(self, action):    # the observation, the reward, and whether the episode has ended
            return "Yes!", 1, True

    serve(Game, name="game", tasks=100)

or, without that line, `python3 agentr_env.py MODULE:CLASS`. Gymnasium's signatures work as well:
reset(seed=task), and step with terminated and truncated. An observation that is no text is made one
by str(). step() should answer a wrong action with a text and raise only when it is broken: an
exception costs the search the whole try. Needs Python 3.9 and nothing else.

The protocol is AgentGym's, JSON over HTTP/1.1:

    POST /create  {}                    -> {"id"}
    POST /reset   {"id", "data_idx"}    -> {"observation", "reward", "done"}
    POST /step    {"id", "action"}      -> {"observation", "reward", "done"}
    POST /expand  {"id", "actions": []} -> {"children": [{"id", "observation", "reward", "done"}]}
    POST /close   {"id"}                -> true, or false if there is no such session
    GET  /observation?id=               -> the last observation
    GET  /version                       -> {"server", "version", "task", "data_hash", "extensions",
                                            "tasks"}

A fault of the environment is {"error": text} with status 200, an error of the request a 4xx, the
limit of sessions a 503. Each reply names this start of the server in Agentr-Instance; a request
with the name of another start is refused with 410.

/expand takes each action on a fork of the session, which itself stays where it was; closing a
session closes its forks. A fork is made by the class's own fork() if there is one, else by
copy.deepcopy. The start tries it on an environment that has begun task 0; if that fails, /version
offers no /expand, and the programs take the earlier actions again instead. A fork must share
nothing that a step changes, so random numbers have to come from a generator in the object. Give
fork=False where a copy is no second game, such as that of the number of a connection.
"""

import argparse
import contextlib
import copy
import functools
import hashlib
import http
import importlib
import inspect
import ipaddress
import json
import math
import operator
import os
import secrets
import signal
import socket
import socketserver
import sys
import threading
import time
import traceback
import urllib.parse

VERSION = "1"
MAX_BODY, MAX_LINE, MAX_FIELDS = 1 << 20, 8 << 10, 100  # of a request, the first two in bytes
MAX_ACTIONS = 1024  # of one /expand
# Clients take an error with one of these for the loss of the session, and begin it again.
LOSS = ("not valid", "deleted", "not found", "not exist", "unknown", "no such", "expired", "closed",
        "invalid")


class Fault(Exception):
    """A fault of the environment or of its use: {"error": text} with status 200."""


class Refusal(Exception):
    """An error of the request: (status, text)."""


@contextlib.contextmanager
def faults_of(what):
    """What the environment raises is logged and becomes a Fault."""
    try:
        yield
    except (Exception, SystemExit) as error:
        traceback.print_exc()
        text = f"{type(error).__name__}: {error}"
        hidden = any(word in text.lower() for word in LOSS)
        raise Fault(f"{what} raised " + ("what the server's log tells" if hidden else text))


def begin(env, task):
    """The first observation."""
    try:
        names = inspect.signature(env.reset).parameters
    except ValueError:  # of a function in C
        names = ()
    out = env.reset(seed=task) if "seed" in names else env.reset(task)
    has_info = isinstance(out, tuple) and len(out) == 2 and isinstance(out[1], dict)
    return str(out[0] if has_info else out)


def play(env, action):
    """(observation, reward, done)"""
    out = env.step(action)
    if not isinstance(out, tuple) or len(out) not in (3, 5):
        raise TypeError("step() must return (observation, reward, done)")
    if not math.isfinite(out[1]):
        raise ValueError(f"the reward is {out[1]}")
    return str(out[0]), float(out[1]), any(map(bool, out[2:4] if len(out) == 5 else out[2:]))


def fork_of(env):
    # Looked up in the class, because a wrapper may hand out the methods of what it wraps.
    return env.fork() if hasattr(type(env), "fork") else copy.deepcopy(env)


def end(env):
    if hasattr(env, "close"):
        with contextlib.suppress(Fault), faults_of("close()"):
            env.close()


def hash_of(items, files):
    """A hash of the items' sources and of the files, which tells versions apart; "" for none."""
    paths = set()
    for item in items:
        with contextlib.suppress(TypeError, OSError):
            paths.add(inspect.getsourcefile(item) or "")
    hashes = []
    for path in [*filter(os.path.isfile, paths), *files]:
        with open(path, "rb") as file:
            hashes.append(hashlib.sha256(file.read()).hexdigest())
    return hashlib.sha256("".join(sorted(hashes)).encode()).hexdigest()[:16] if hashes else ""


class Session:
    def __init__(self, env, lock, parent=None, state="has not begun"):
        self.env = env  # None once the session has ended
        self.lock, self.parent = lock, parent
        self.root = parent.root if parent else self
        self.observation = ""
        self.state = state  # or "is playing", "has finished", "has failed"
        # Guarded by the lock of the table. The last two are those of a root with all its forks.
        self.id, self.forks, self.calls, self.used = -1, set(), 0, 0.0

    def require_playing(self):
        if self.state != "is playing":
            raise Fault(f"The task of session {self.id} {self.state}: call /reset.")

    def reset(self, task):
        self.state = "has failed"
        with faults_of("reset()"):
            self.observation = begin(self.env, task)
        self.state = "is playing"
        return {"observation": self.observation, "reward": 0.0, "done": False}

    def step(self, action):
        self.require_playing()
        self.state = "has failed"
        with faults_of("step()"):
            self.observation, reward, done = play(self.env, action)
        self.state = "has finished" if done else "is playing"
        return {"observation": self.observation, "reward": reward, "done": done}

    def end(self):
        with self.lock:
            env, self.env = self.env, None
            end(env)


class Environments:
    """All sessions, for many threads at once. A method named like a route returns its reply."""

    def __init__(self, make, tasks, name, idle_s, max_sessions, serialize, fork, files, clock):
        self.make, self.tasks, self.idle_s, self.max_sessions = make, tasks, idle_s, max_sessions
        self.clock = clock
        self.table = threading.Lock()  # guards the next two; never held while an environment works
        self.sessions, self.next_id = {}, 0
        one_lock = threading.RLock()
        self.new_lock = (lambda: one_lock) if serialize else threading.RLock
        env = make()
        self.title = name or type(env).__name__
        self.can_fork = fork and self.try_fork(env)
        sources = make, type(env), type(getattr(env, "unwrapped", env))
        self.version = {"server": "agentr_env.py", "version": VERSION, "task": name,
                        "data_hash": hash_of(sources, files),
                        "extensions": ["expand"] if self.can_fork else [], "tasks": tasks}
        end(env)

    def try_fork(self, env):
        try:
            begin(env, 0)
            end(fork_of(env))
            return True
        except Exception as error:
            print(f"no forks, because of {type(error).__name__}: {error}", file=sys.stderr)
            return False

    @contextlib.contextmanager
    def use(self, id):
        """The session, while no other call uses it."""
        with self.table:
            session = self.sessions.get(id)
            if session:
                session.root.calls += 1
        if not session:
            raise Fault(f"The id {id} is not valid.")
        try:
            with session.lock:
                if session.env is None:  # it was closed while this call waited
                    raise Fault(f"The id {id} is not valid.")
                yield session
        finally:
            with self.table:
                session.root.calls -= 1
                session.root.used = self.clock()

    def add(self, sessions, parent=None):
        """Their ids. If they cannot be kept, they end."""
        try:
            with self.table:
                if len(self.sessions) + len(sessions) > self.max_sessions:
                    raise Refusal(503, "The server is at its limit of live sessions: close some, "
                                       "or start it with a larger max_sessions.")
                if parent and parent.id not in self.sessions:
                    raise Fault(f"The id {parent.id} is not valid.")
                for session in sessions:
                    session.id, self.next_id = self.next_id, self.next_id + 1
                    session.used = self.clock()
                    self.sessions[session.id] = session
                if parent:
                    parent.forks.update(sessions)
            return [session.id for session in sessions]
        except (Refusal, Fault):
            for session in sessions:
                session.end()
            raise

    def create(self):
        lock = self.new_lock()
        with lock, faults_of("The constructor"):
            env = self.make()
        return {"id": self.add([Session(env, lock)])[0]}

    def reset(self, id, task):
        if task < 0 or 0 < self.tasks <= task:
            last = self.tasks - 1 if self.tasks else "any"
            raise Fault(f"There is no task {task}: they are 0 to {last}.")
        with self.use(id) as session:
            return session.reset(task)

    def step(self, id, action):
        with self.use(id) as session:
            return session.step(action)

    def observation(self, id):
        with self.use(id) as session:
            if session.state == "has not begun":
                session.require_playing()
            return session.observation

    def expand(self, id, actions):
        with self.use(id) as session:
            session.require_playing()
            forks, replies = [], []
            try:
                for action in actions:
                    with faults_of("The fork"):
                        env = fork_of(session.env)
                    forks.append(Session(env, self.new_lock(), session, "is playing"))
                    replies.append(forks[-1].step(action))
            except Fault:
                for fork in forks:
                    fork.end()
                raise
            ids = self.add(forks, session)
            return {"children": [{"id": id, **reply} for id, reply in zip(ids, replies)]}

    def close(self, id):
        removed = self.remove(lambda: [self.sessions[id]] if id in self.sessions else [])
        for session in removed:
            session.end()
        return bool(removed)

    def remove(self, choose):
        """Takes the sessions that choose() returns, and their forks, out of the table."""
        with self.table:
            removed = choose()
            for session in removed:  # which grows
                del self.sessions[session.id]
                if session.parent:
                    session.parent.forks.discard(session)
                removed.extend(session.forks)
                session.forks = set()
            return removed

    def end_idle(self):
        limit = self.clock() - self.idle_s
        removed = self.remove(lambda: [one for one in self.sessions.values()
                                       if not one.parent and not one.calls and one.used <= limit])
        if removed:  # what their close() takes must not stop the server
            threading.Thread(target=lambda: [one.end() for one in removed], daemon=True).start()

    def end_all(self):
        roots = lambda: [one for one in self.sessions.values() if not one.parent]
        for session in self.remove(roots):
            if session.lock.acquire(timeout=1):  # one that is busy may stay so
                session.end()
                session.lock.release()


class Handler(socketserver.StreamRequestHandler):
    """One connection. It has a parser of its own: http.server needs twice the time for a call."""

    disable_nagle_algorithm = True

    def setup(self):
        self.timeout = self.server.environments.idle_s
        super().setup()

    def handle(self):
        with contextlib.suppress(OSError):  # the client has left, or was silent for too long
            while self.answer():
                pass

    def answer(self):
        """Answers one request; whether another may follow."""
        status, keep = 200, True
        try:
            method, target, fields = self.read_head()
            if not method:
                return False
            keep = fields.get("connection", "").lower() != "close"
            reply = self.server.answer(method, target, fields, self.read_body(fields))
        except Fault as fault:
            reply = {"error": str(fault)}
        except Refusal as refusal:
            (status, text), keep = refusal.args, False
            reply = {"error": text}
        text = json.dumps(reply, ensure_ascii=False, separators=(",", ":"))
        body = text.encode("utf-8", "replace")
        head = (f"HTTP/1.1 {status} {http.HTTPStatus(status).phrase}\r\n"
                f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
                f"Agentr-Instance: {self.server.instance}\r\n")
        head += "\r\n" if keep else "Connection: close\r\n\r\n"
        self.request.sendall(head.encode() + body)
        return keep

    def read_head(self):
        """Method, target, and the fields by their names in lower case; no method at the end."""
        lines = []
        while len(lines) < MAX_FIELDS:
            line = self.rfile.readline(MAX_LINE).decode("latin-1")
            if not line.endswith("\n"):
                if len(line) == MAX_LINE:
                    break
                return None, None, None
            if not line.strip():
                method, _, rest = (lines or [""])[0].partition(" ")
                target, _, version = rest.partition(" ")
                if version not in ("HTTP/1.0", "HTTP/1.1"):
                    raise Refusal(400, "This is not HTTP/1.1.")
                fields = {"connection": "close"} if version == "HTTP/1.0" else {}
                for name, _, value in (one.partition(":") for one in lines[1:]):
                    fields[name.lower()] = value.strip()
                return method, target, fields
            lines.append(line.rstrip())
        raise Refusal(431, "The head of the request is too long.")

    def read_body(self, fields):
        length = fields.get("content-length", "0")
        if "transfer-encoding" in fields or not (length.isascii() and length.isdigit()):
            raise Refusal(411, "Give the length of the body in Content-Length.")
        if int(length[:9]) > MAX_BODY:
            raise Refusal(413, f"The body is over the limit of {MAX_BODY} bytes.")
        return self.rfile.read(int(length))


def values_in(body, **kinds):
    """The fields of a request's JSON with these names and types."""
    try:
        fields = json.loads(body)
    except (ValueError, RecursionError):
        raise Refusal(400, "The body is not JSON.") from None
    for name, kind in kinds.items():
        if not isinstance(fields, dict) or type(fields.get(name)) is not kind:
            raise Refusal(422, f"The body must be an object with the {kind.__name__} '{name}'.")
    return [fields[name] for name in kinds]


@functools.lru_cache(maxsize=100)
def is_loopback(host):
    """Whether a host, perhaps with a port, is a name that only this machine has for itself."""
    try:
        name = urllib.parse.urlsplit("//" + host).hostname or ""
        return name == "localhost" or ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


class EnvServer(socketserver.ThreadingTCPServer):
    """The server of serve(), for a program that has a thread for its serve_forever(). A thread per
    connection."""

    allow_reuse_address = daemon_threads = True
    request_queue_size = 1024
    next_look = 0.0  # for idle sessions

    def __init__(self, make, port=8080, host="127.0.0.1", tasks=0, name="", idle_s=3600,
                 max_sessions=100_000, serialize=False, fork=True, files=(), clock=time.monotonic):
        self.environments = Environments(make, tasks, name, idle_s, max_sessions, serialize, fork,
                                         files, clock)
        self.instance = secrets.token_hex(8)
        name = f"[{host}]" if ":" in host else host  # as a URL has it
        self.is_private = is_loopback(name)
        self.address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
        super().__init__((host, port), Handler)
        self.url = f"http://{name}:{self.server_address[1]}"

    def service_actions(self):  # called after each new connection, and twice a second without one
        if time.monotonic() >= self.next_look:
            self.next_look = time.monotonic() + 0.5
            self.environments.end_idle()

    def server_close(self):
        super().server_close()
        self.environments.end_all()

    def answer(self, method, target, fields, body):
        # Web pages can reach the servers of the machine that shows them, even by their own names.
        host = fields.get("host", "localhost")
        if self.is_private and ("origin" in fields or not is_loopback(host)):
            raise Refusal(403, "This server is not for web pages, and its name is localhost.")
        if fields.get("agentr-instance", self.instance) != self.instance:
            raise Refusal(410, "The session is not valid: the server was restarted after it began.")
        path, _, query = target.partition("?")
        call, environments = f"{method} {path}", self.environments
        if call == "POST /step":
            return environments.step(*values_in(body, id=int, action=str))
        if call == "POST /expand" and environments.can_fork:
            id, actions = values_in(body, id=int, actions=list)
            if len(actions) > MAX_ACTIONS or not all(isinstance(one, str) for one in actions):
                raise Refusal(422, f"The actions must be strings, at most {MAX_ACTIONS}.")
            return environments.expand(id, actions)
        if call == "POST /reset":
            return environments.reset(*values_in(body, id=int, data_idx=int))
        if call == "POST /create":
            return environments.create()
        if call == "POST /close":
            return environments.close(*values_in(body, id=int))
        if call == "GET /observation":
            id = urllib.parse.parse_qs(query).get("id", [""])[0]
            if not (id.isascii() and id.isdigit()):
                raise Refusal(422, "The parameter 'id' must be an integer.")
            return environments.observation(int(id))
        if call == "GET /version":
            return environments.version
        if call == "GET /health":
            return {"status": "ok"}
        raise Refusal(404, f"There is no {call[:100]} here.")


def serve(make, **options):
    """Serves what make() returns, a new object for each session, until SIGTERM or Ctrl-C.

    The options are those of the command line, which explains them: port, host, tasks, name, idle_s,
    max_sessions, serialize, fork, files.
    """
    server = EnvServer(make, **options)
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, signal.default_int_handler)
    with contextlib.suppress(KeyboardInterrupt):
        print(f"serving {server.environments.title} on {server.url}", flush=True)
        server.serve_forever()
    server.server_close()


def main():
    parser = argparse.ArgumentParser(
        description="""Serves a Python class as an environment that agentr's programs can search.
        The class needs reset(task), which returns the first observation, and step(action), which
        returns the observation, the reward, and whether the episode has ended; or Gymnasium's
        reset(seed=) and step().""",
        epilog="""Example, in the folder of number_game.py: agentr_env.py number_game:NumberGame
        --name number_game --tasks 100. Then: mcts_collect --task number_game.toml
        --env_server_base http://127.0.0.1:8080. A server uses one core; start several for a heavy
        environment.""")
    add = parser.add_argument
    add("make", metavar="MODULE:CLASS",
        help="a class, or a function without parameters; modules of the current folder are found")
    add("--port", type=int, default=8080, help="default 8080; 0 is a free one, named by the first line")
    add("--host", default="127.0.0.1",
        help="default 127.0.0.1; 0.0.0.0 is every network, for anybody there")
    add("--tasks", type=int, default=0, help="how many there are, from 0 on; default: not known")
    add("--name", default="", help="the name in the task file; default: any")
    add("--idle_s", type=float, default=3600, help="default 3600: until an unused session ends")
    add("--max_sessions", type=int, default=100_000, help="default 100000; at once, with forks")
    add("--serialize", action="store_true",
        help="one environment works at a time, for those that do not stand threads")
    add("--no_fork", action="store_false", dest="fork", help="never copy an environment")
    add("--file", action="append", default=[], dest="files",
        help="data that belongs to the environment's version, such as a story; repeatable")
    options = vars(parser.parse_args())
    module, _, attribute = options.pop("make").partition(":")
    if not attribute:
        parser.error("give MODULE:CLASS, such as number_game:NumberGame")
    sys.path.insert(0, os.getcwd())
    serve(operator.attrgetter(attribute)(importlib.import_module(module)), **options)


if __name__ == "__main__":
    main()
