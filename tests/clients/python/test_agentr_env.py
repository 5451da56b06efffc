"""Tests of clients/python/agentr_env.py over HTTP, with the standard library only."""

import concurrent.futures
import contextlib
import http.client
import io
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import unittest

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..")
PYTHON = os.path.join(ROOT, "clients", "python")
GAME = os.path.join(ROOT, "examples", "number_game")
sys.path[:0] = [PYTHON, GAME]

from agentr_env import EnvServer  # noqa: E402
from number_game import NumberGame  # noqa: E402

FIRST = "I think of a number from 1 to 100."


class Counter:
    """Shows how often it was played; "end" ends it, "raise TEXT" is a fault."""

    def reset(self, task):
        self.count = task
        return f"begin {task}"

    def step(self, action):
        if action.startswith("raise"):
            self.count += 100
            raise ValueError(action[6:])
        self.count += 1
        return f"{action} {self.count}", 0.5, action == "end"


class ServerTest(unittest.TestCase):
    def setUp(self):
        # What the server logs is part of some tests and would only disturb in others.
        self.log = io.StringIO()
        redirected = contextlib.redirect_stderr(self.log)
        redirected.__enter__()
        self.addCleanup(redirected.__exit__, None, None, None)

    def start(self, make, **options):
        server = EnvServer(make, port=0, **options)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()

        def stop():
            server.shutdown()
            thread.join()
            server.server_close()

        self.addCleanup(stop)
        return server

    def raw(self, server, method, path, body=None, headers=None):
        """(status, text of the reply, fields)"""
        connection = http.client.HTTPConnection(*server.server_address[:2], timeout=60)
        with contextlib.closing(connection):
            connection.request(method, path, body, headers or {})
            reply = connection.getresponse()
            return reply.status, reply.read().decode(), reply.headers

    def post(self, server, path, **body):
        status, text, _ = self.raw(server, "POST", path, json.dumps(body))
        self.assertEqual(status, 200, text)
        return json.loads(text)

    def begin(self, server, task=0):
        id = self.post(server, "/create")["id"]
        self.post(server, "/reset", id=id, data_idx=task)
        return id

    def live(self, server):
        return sorted(server.environments.sessions)


class ProtocolTest(ServerTest):
    def test_replies_to_the_letter(self):
        server = self.start(NumberGame, name="number_game", tasks=100)
        version = (r'\{"server":"agentr_env.py","version":"1","task":"number_game",'
                   r'"data_hash":"[0-9a-f]{16}","extensions":\["expand"\],"tasks":100\}')
        self.assertRegex(self.raw(server, "GET", "/version")[1], f"^{version}$")
        for method, path, body, expected in (
                ("GET", "/health", None, '{"status":"ok"}'),
                ("POST", "/create", "", '{"id":0}'),
                ("POST", "/create", "{}", '{"id":1}'),
                ("POST", "/step", '{"id":0,"action":"50"}',
                 '{"error":"The task of session 0 has not begun: call /reset."}'),
                ("GET", "/observation?id=0", None,
                 '{"error":"The task of session 0 has not begun: call /reset."}'),
                ("POST", "/reset", '{"id":0,"data_idx":41}',
                 f'{{"observation":"{FIRST}","reward":0.0,"done":false}}'),
                ("POST", "/step", '{"id":0,"action":"50"}',
                 '{"observation":"lower than 50","reward":0.0,"done":false}'),
                ("POST", "/step", '{"id":0,"action":"forty"}',
                 '{"observation":"Please say a number from 1 to 100.","reward":0.0,"done":false}'),
                ("GET", "/observation?id=0", None, '"Please say a number from 1 to 100."'),
                ("POST", "/expand", '{"id":0,"actions":["42","10"]}',
                 '{"children":[{"id":2,"observation":"Yes!","reward":1.0,"done":true},'
                 '{"id":3,"observation":"higher than 10","reward":0.0,"done":false}]}'),
                ("POST", "/expand", '{"id":0,"actions":[]}', '{"children":[]}'),
                ("POST", "/step", '{"id":2,"action":"1"}',
                 '{"error":"The task of session 2 has finished: call /reset."}'),
                ("POST", "/expand", '{"id":2,"actions":["1"]}',
                 '{"error":"The task of session 2 has finished: call /reset."}'),
                ("POST", "/reset", '{"id":0,"data_idx":100}',
                 '{"error":"There is no task 100: they are 0 to 99."}'),
                ("POST", "/reset", '{"id":0,"data_idx":-1}',
                 '{"error":"There is no task -1: they are 0 to 99."}'),
                ("POST", "/close", '{"id":0}', "true"),
                ("POST", "/close", '{"id":0}', "false"),
                ("POST", "/step", '{"id":0,"action":"50"}', '{"error":"The id 0 is not valid."}'),
                ("POST", "/reset", '{"id":7,"data_idx":0}', '{"error":"The id 7 is not valid."}'),
                ("GET", "/observation?id=0", None, '{"error":"The id 0 is not valid."}')):
            status, text, fields = self.raw(server, method, path, body)
            self.assertEqual((status, text), (200, expected), (method, path, body))
            self.assertEqual(fields["Content-Type"], "application/json")
            self.assertEqual(fields["Agentr-Instance"], server.instance)

    def test_eight_guesses(self):
        server = self.start(NumberGame)
        id = self.begin(server, 41)
        ends = [self.post(server, "/step", id=id, action=str(n))["done"] for n in range(1, 9)]
        self.assertEqual(ends, [False] * 7 + [True])

    def test_refused_requests(self):
        server = self.start(Counter)
        id = self.begin(server)
        many = json.dumps({"id": id, "actions": ["x"] * 1025})
        for status, method, path, body, headers in (
                (400, "POST", "/step", "{", {}),
                (400, "POST", "/step", "[" * 100_000, {}),
                (422, "POST", "/step", "[]", {}),
                (422, "POST", "/step", '{"id":0}', {}),
                (422, "POST", "/step", '{"id":true,"action":"x"}', {}),
                (422, "POST", "/step", '{"id":0,"action":5}', {}),
                (422, "POST", "/reset", '{"id":0,"data_idx":"1"}', {}),
                (422, "POST", "/expand", '{"id":0,"actions":"x"}', {}),
                (422, "POST", "/expand", '{"id":0,"actions":[1]}', {}),
                (422, "POST", "/expand", many, {}),
                (422, "GET", "/observation", None, {}),
                (422, "GET", "/observation?id=x", None, {}),
                (404, "GET", "/step", None, {}),
                (404, "GET", "/elsewhere", None, {}),
                (404, "DELETE", "/step", None, {}),
                (411, "POST", "/step", None, {"Transfer-Encoding": "chunked"}),
                (411, "POST", "/step", None, {"Content-Length": "-1"}),
                (413, "POST", "/step", None, {"Content-Length": "2000000"}),
                (413, "POST", "/step", None, {"Content-Length": "1" * 30}),
                (431, "GET", "/version", None, {"X": "x" * 9000}),
                (431, "GET", "/version", None, {f"X{i}": "x" for i in range(200)}),
                (403, "GET", "/version", None, {"Host": "page.example:80"}),
                (403, "POST", "/create", "{}", {"Origin": "http://page.example"}),
                (200, "GET", "/version", None, {"Host": "localhost:99"}),
                (200, "GET", "/version", None, {"Host": "[::1]:99"})):
            got, text, fields = self.raw(server, method, path, body, headers)
            self.assertEqual(got, status, (method, path, headers, text))
            self.assertEqual("error" in json.loads(text), status != 200)
            self.assertEqual(fields.get("Connection"), "close" if status != 200 else None)
        self.assertEqual(self.post(server, "/step", id=id, action="a")["observation"], "a 1")

    def test_web_pages_are_refused_at_every_address_of_this_machine(self):
        for host in ("127.0.0.1", "::1"):
            try:
                server = self.start(Counter, host=host)
            except OSError:
                self.skipTest("this machine has no IPv6")
            headers = {"Origin": "http://page.example"}
            self.assertEqual(self.raw(server, "POST", "/create", "{}", headers)[0], 403, host)

    def test_many_requests_on_one_connection(self):
        server = self.start(NumberGame)
        connection = http.client.HTTPConnection(*server.server_address[:2], timeout=60)
        self.addCleanup(connection.close)
        connection.connect()
        socket = connection.sock
        for id in range(3):
            connection.request("POST", "/create", "{}")
            self.assertEqual(connection.getresponse().read(), b'{"id":%d}' % id)
        self.assertIs(connection.sock, socket)

    def test_a_request_for_another_start_is_refused(self):
        one = self.start(Counter)
        self.begin(one)
        two = self.start(Counter)
        for id in (self.begin(two), 7):
            body = json.dumps({"id": id, "action": "a"})
            headers = {"Agentr-Instance": one.instance}
            status, text, _ = self.raw(two, "POST", "/step", body, headers)
            self.assertEqual(status, 410)
            self.assertEqual(text, '{"error":"The session is not valid: '
                                   'the server was restarted after it began."}')
        body = json.dumps({"id": 0, "action": "a"})
        headers = {"Agentr-Instance": two.instance}
        self.assertEqual(self.raw(two, "POST", "/step", body, headers)[0], 200)


class EnvironmentTest(ServerTest):
    def test_gymnasium_signatures(self):
        class Env:
            def reset(self, *, seed=None, options=None):
                self.seed = seed
                return {"seed": seed}, {"more": 1}

            def step(self, action):
                return (self.seed, action), 0.25, action == "win", action == "late", {}

        server = self.start(Env)
        id = self.post(server, "/create")["id"]
        first = self.post(server, "/reset", id=id, data_idx=7)["observation"]
        self.assertEqual(first, "{'seed': 7}")
        for action, done in (("go", False), ("win", True), ("late", True)):
            self.post(server, "/reset", id=id, data_idx=7)
            self.assertEqual(self.post(server, "/step", id=id, action=action),
                             {"observation": f"(7, '{action}')", "reward": 0.25, "done": done})

    def test_a_pair_is_an_observation_unless_it_has_an_info(self):
        class Place(Counter):
            def reset(self, task):
                return 3, task

        server = self.start(Place)
        id = self.post(server, "/create")["id"]
        self.assertEqual(self.post(server, "/reset", id=id, data_idx=4)["observation"], "(3, 4)")

    def test_texts_outside_of_unicode(self):
        class Odd(Counter):
            def step(self, action):
                return "é \ud800 \x00", 0, False

        server = self.start(Odd)
        id = self.begin(server)
        reply = self.post(server, "/step", id=id, action="\ud800")
        self.assertEqual(reply["observation"], "é ? \x00")

    def test_an_exception_ends_the_task_and_not_the_server(self):
        server = self.start(Counter)
        id = self.begin(server)
        self.assertEqual(self.post(server, "/step", id=id, action="raise it broke"),
                         {"error": "step() raised ValueError: it broke"})
        self.assertIn('raise ValueError(action[6:])', self.log.getvalue())
        self.assertEqual(self.post(server, "/step", id=id, action="a"),
                         {"error": f"The task of session {id} has failed: call /reset."})
        self.post(server, "/reset", id=id, data_idx=0)
        self.assertEqual(self.post(server, "/step", id=id, action="a")["observation"], "a 1")

    def test_an_exception_is_not_taken_for_a_lost_session(self):
        class InvalidMove(Exception):
            pass

        class Strict(Counter):
            def step(self, action):
                if action == "move":
                    raise InvalidMove("there")
                return super().step(action)

        server = self.start(Strict)
        for action, logged in (("raise the id is not valid", "ValueError: the id is not valid"),
                               ("move", "InvalidMove: there")):
            reply = self.post(server, "/step", id=self.begin(server), action=action)
            self.assertEqual(reply, {"error": "step() raised what the server's log tells"})
            self.assertIn(logged, self.log.getvalue())

    def test_what_the_environment_may_not_return(self):
        class Wrong(Counter):
            def step(self, action):
                return eval(action)

        server = self.start(Wrong)
        three = "TypeError: step() must return (observation, reward, done)"
        for action, error in (("1", three), ("(1, 2)", three),
                              ("('', float('nan'), False)", "ValueError: the reward is nan"),
                              ("exit(3)", "SystemExit: 3")):
            id = self.begin(server)
            self.assertEqual(self.post(server, "/step", id=id, action=action),
                             {"error": f"step() raised {error}"})

    def test_constructor_and_close_may_raise(self):
        class Shy(Counter):
            made = 0

            def __init__(self):
                Shy.made += 1
                if Shy.made == 2:
                    raise OSError("no memory")

            def close(self):
                raise OSError("stuck")

        server = self.start(Shy)
        self.assertEqual(self.post(server, "/create"),
                         {"error": "The constructor raised OSError: no memory"})
        self.assertEqual(self.post(server, "/close", id=self.begin(server)), True)
        self.assertIn("OSError: stuck", self.log.getvalue())

    def test_data_hash_follows_the_source_and_the_files(self):
        def hash_of(make, **options):
            server = self.start(make, **options)
            return json.loads(self.raw(server, "GET", "/version")[1])["data_hash"]

        with tempfile.NamedTemporaryFile("w") as file:
            empty = hash_of(NumberGame, files=[file.name])
            self.assertEqual(hash_of(NumberGame, files=[file.name]), empty)
            file.write("x")
            file.flush()
            full = hash_of(NumberGame, files=[file.name])
            self.assertEqual(len({empty, full, hash_of(NumberGame), hash_of(Counter)}), 4)
        scope = {}
        exec("class Typed:\n"
             "  def reset(self, task): return ''\n"
             "  def step(self, action): return '', 0, 0", scope)
        self.assertEqual(hash_of(scope["Typed"]), "")


class ForkTest(ServerTest):
    def expand(self, server, id, *actions):
        return self.post(server, "/expand", id=id, actions=actions)["children"]

    def shown(self, children):
        return [child["observation"] for child in children]

    def test_forks_are_independent(self):
        server = self.start(Counter)
        id = self.begin(server, 10)
        children = self.expand(server, id, "a", "b")
        self.assertEqual(self.shown(children), ["a 11", "b 11"])
        one, two = (child["id"] for child in children)
        self.assertEqual(self.shown(self.expand(server, one, "c", "d")), ["c 12", "d 12"])
        self.assertEqual(self.post(server, "/step", id=two, action="e")["observation"], "e 12")
        self.assertEqual(self.post(server, "/step", id=id, action="f")["observation"], "f 11")
        self.assertEqual(self.post(server, "/step", id=one, action="g")["observation"], "g 12")

    def test_closing_a_session_closes_its_forks(self):
        closed = []

        class Closing(Counter):
            def close(self):
                closed.append(self.count)

        server = self.start(Closing)
        closed.clear()  # the environments of the start
        other = self.begin(server)
        id = self.begin(server)
        child = self.expand(server, id, "a", "b")[0]["id"]
        grandchild = self.expand(server, child, "c")[0]["id"]
        self.assertEqual(len(self.live(server)), 5)
        self.post(server, "/close", id=child)
        self.assertEqual(sorted(closed), [1, 2])
        self.assertEqual(self.post(server, "/step", id=grandchild, action="a"),
                         {"error": f"The id {grandchild} is not valid."})
        self.post(server, "/close", id=id)
        self.assertEqual(self.live(server), [other])
        self.assertEqual(sorted(closed), [0, 1, 1, 2])

    def test_fork_of_the_object(self):
        class Own(Counter):
            def __deepcopy__(self, memo):
                raise AssertionError("fork() must be used")

            def fork(self):
                copied = Own()
                copied.count = self.count
                return copied

        server = self.start(Own)
        children = self.expand(server, self.begin(server), "a", "b")
        self.assertEqual(self.shown(children), ["a 1", "b 1"])

    def test_a_wrapper_is_copied_whole(self):
        class Inner(Counter):
            def fork(self):
                raise AssertionError("the wrapper must not be lost")

        class Wrapper:
            def __init__(self):
                self.inner = Inner()

            def __getattr__(self, name):
                if name.startswith("__") or name == "inner":
                    raise AttributeError(name)
                return getattr(self.inner, name)

            def step(self, action):
                return self.inner.step(action.upper())

        server = self.start(Wrapper)
        self.assertEqual(self.shown(self.expand(server, self.begin(server), "a")), ["A 1"])

    def test_objects_that_cannot_be_copied(self):
        class Locked(Counter):
            def __init__(self):
                self.lock = threading.Lock()

        class Generating(Counter):
            def reset(self, task):
                self.play = (f"{task} {i}" for i in range(9))
                return next(self.play)

            def step(self, action):
                return next(self.play), 0, False

        for make, options in ((Locked, {}), (Generating, {}), (Counter, {"fork": False})):
            server = self.start(make, **options)
            version = json.loads(self.raw(server, "GET", "/version")[1])
            self.assertEqual(version["extensions"], [])
            id = self.begin(server)
            body = json.dumps({"id": id, "actions": ["a"]})
            self.assertEqual(self.raw(server, "POST", "/expand", body)[0], 404)
            self.post(server, "/step", id=id, action="a")
        self.assertRegex(self.log.getvalue(), "no forks, because of TypeError: .*lock")
        self.assertRegex(self.log.getvalue(), "no forks, because of TypeError: .*generator")

    def test_a_fork_that_fails_leaves_nothing_behind(self):
        closed = []

        class Later(Counter):
            def step(self, action):
                out = super().step(action)
                if action == "lock":
                    self.lock = threading.Lock()
                return out

            def close(self):
                closed.append(self.count)

        server = self.start(Later)
        id = self.begin(server)
        closed.clear()
        reply = self.post(server, "/expand", id=id, actions=["a", "b", "raise it broke"])
        self.assertEqual(reply, {"error": "step() raised ValueError: it broke"})
        self.assertEqual(sorted(closed), [1, 1, 100])
        self.assertEqual(self.live(server), [id])
        self.assertEqual(self.post(server, "/step", id=id, action="lock")["observation"], "lock 1")
        reply = self.post(server, "/expand", id=id, actions=["a"])
        self.assertRegex(reply["error"], "^The fork raised TypeError: .*lock")
        self.assertEqual(self.post(server, "/step", id=id, action="b")["observation"], "b 2")

    def test_limit_of_sessions(self):
        server = self.start(Counter, max_sessions=3)
        id = self.begin(server)
        self.expand(server, id, "a", "b")
        for path, body in (("/create", {}), ("/expand", {"id": id, "actions": ["c"]})):
            status, text, _ = self.raw(server, "POST", path, json.dumps(body))
            self.assertEqual(status, 503)
            self.assertIn("max_sessions", text)
        self.assertEqual(len(self.live(server)), 3)
        self.post(server, "/close", id=id)
        self.begin(server)


class ThreadTest(ServerTest):
    def test_two_hundred_clients(self):
        server = self.start(NumberGame)
        begun = threading.Barrier(200)

        def play(task):
            """Halving finds each number with seven guesses."""
            id = self.begin(server, task % 100)
            begun.wait(60)
            low, high = 1, 100
            for guesses in range(1, 9):
                guess = (low + high) // 2
                reply = self.post(server, "/step", id=id, action=str(guess))
                if reply["done"]:
                    self.assertEqual((guess, reply["reward"]), (task % 100 + 1, 1))
                    return self.post(server, "/close", id=id)
                higher = "higher" in reply["observation"]
                low, high = (guess + 1, high) if higher else (low, guess - 1)

        with concurrent.futures.ThreadPoolExecutor(200) as pool:
            self.assertEqual(list(pool.map(play, range(200))), [True] * 200)
        self.assertEqual(self.live(server), [])

    def test_calls_of_a_session_take_turns(self):
        class Alone(Counter):
            def step(self, action):
                before = self.count
                threading.Event().wait(0.001)
                self.count = before + 1
                return str(self.count), 0, False

        server = self.start(Alone)
        id = self.begin(server)
        step = lambda _: int(self.post(server, "/step", id=id, action="a")["observation"])
        with concurrent.futures.ThreadPoolExecutor(20) as pool:
            self.assertEqual(sorted(pool.map(step, range(100))), list(range(1, 101)))

    def test_sessions_work_at_once_unless_serialized(self):
        class Meeting(Counter):
            both = threading.Barrier(2)
            working = most = 0

            def step(self, action):
                if action == "meet":
                    Meeting.both.wait(60)
                Meeting.working += 1
                Meeting.most = max(Meeting.most, Meeting.working)
                threading.Event().wait(0.001)
                Meeting.working -= 1
                return super().step(action)

        def play_two(server, action):
            ids = [self.begin(server) for _ in range(2)]
            step = lambda i: self.post(server, "/step", id=ids[i % 2], action=action)["observation"]
            with concurrent.futures.ThreadPoolExecutor(2) as pool:
                return list(pool.map(step, range(20 if action == "a" else 2)))

        self.assertEqual(play_two(self.start(Meeting), "meet"), ["meet 1"] * 2)
        Meeting.most = 0
        play_two(self.start(Meeting, serialize=True), "a")
        self.assertEqual(Meeting.most, 1)


class EndTest(ServerTest):
    def test_idle_sessions_end(self):
        now = [0.0]
        closed = threading.Semaphore(0)

        class Closing(Counter):
            may_go_on = threading.Event()

            def step(self, action):
                if action == "wait":
                    Closing.stepping.set()
                    Closing.may_go_on.wait(60)
                return super().step(action)

            def close(self):
                closed.release()

        Closing.stepping = threading.Event()
        server = EnvServer(Closing, port=0, idle_s=100, clock=lambda: now[0])
        self.addCleanup(server.server_close)
        environments = server.environments
        for _ in range(2):  # the environments of the start
            closed.acquire(timeout=60)
        ids = [environments.create()["id"] for _ in range(3)]
        for id in ids:
            environments.reset(id, 0)
        fork = environments.expand(ids[0], ["a"])["children"][0]["id"]
        step = threading.Thread(target=environments.step, args=(ids[1], "wait"))
        step.start()
        Closing.stepping.wait(60)
        now[0] = 99
        environments.step(fork, "b")  # which keeps its family
        now[0] = 150
        environments.end_idle()
        self.assertEqual(self.live(server), [ids[0], ids[1], fork])
        Closing.may_go_on.set()
        step.join()
        now[0] = 199
        environments.end_idle()
        self.assertEqual(self.live(server), [ids[1]])
        now[0] = 250
        environments.end_idle()
        self.assertEqual(self.live(server), [])
        for _ in range(4):
            self.assertTrue(closed.acquire(timeout=60))

    def test_the_server_looks_for_idle_sessions(self):
        now = [0.0]
        ended = threading.Event()

        class Closing(Counter):
            def close(self):
                if self.count == 7:
                    ended.set()

        server = self.start(Closing, idle_s=100, clock=lambda: now[0])
        self.begin(server, 7)
        now[0] = 100
        self.assertTrue(ended.wait(60))

    def test_a_session_that_is_closed_while_a_call_waits(self):
        server = self.start(Counter)
        id = self.begin(server)
        session = server.environments.sessions[id]
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            with session.lock:
                waiting = pool.submit(self.post, server, "/step", id=id, action="a")
                while not session.calls and not waiting.done():
                    threading.Event().wait(0.001)
                session.env = None
            self.assertEqual(waiting.result(60), {"error": f"The id {id} is not valid."})

    def command(self, *arguments, **options):
        path = os.path.join(PYTHON, "agentr_env.py")
        return subprocess.Popen([sys.executable, path, *arguments], text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)

    def test_command_line(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "closing.py"), "w") as file:
                file.write("class Closing:\n"
                           "  def reset(self, task): return ''\n"
                           "  def step(self, action): return '', 0, False\n"
                           "  def close(self): print('closed', flush=True)\n")
            process = self.command("closing:Closing", "--port", "0", "--no_fork", cwd=folder)
            self.addCleanup(process.kill)
            self.assertEqual(process.stdout.readline(), "closed\n")  # that of the start
            line = process.stdout.readline()
            self.assertRegex(line, r"^serving Closing on http://127\.0\.0\.1:[1-9][0-9]*\n$")
            connection = http.client.HTTPConnection(line.split("/")[-1].strip(), timeout=60)
            for _ in range(2):
                connection.request("POST", "/create", "{}")
                connection.getresponse().read()
            process.send_signal(signal.SIGTERM)
            self.assertEqual(process.communicate(timeout=60), ("closed\nclosed\n", ""))
            self.assertEqual(process.returncode, 0)
            connection.close()

    def test_command_line_teaches(self):
        out, _ = self.command("--help").communicate(timeout=60)
        for word in ("reset(task)", "--port", "mcts_collect --task", "number_game:NumberGame"):
            self.assertIn(word, " ".join(out.split()))
        process = self.command("number_game")
        self.assertIn("give MODULE:CLASS", process.communicate(timeout=60)[1])
        self.assertEqual(process.returncode, 2)


if __name__ == "__main__":
    unittest.main()
