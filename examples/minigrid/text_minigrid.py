"""MiniGrid in words: an example of a Gymnasium environment behind a small text of one's own.

    pip install minigrid
    PYTHONPATH=clients/python python3 examples/minigrid/text_minigrid.py MiniGrid-DoorKey-5x5-v0

serves it on port 8080; a task is the seed of a grid. examples/minigrid/minigrid.toml says how a
model plays it.
"""

import sys

import gymnasium
import minigrid  # registers its environments

REFUSAL = "That is no action. The actions are: "


class TextMiniGrid:
    ACTIONS = {"turn left": 0, "turn right": 1, "go forward": 2, "pick up": 3, "drop": 4,
               "toggle": 5}

    def __init__(self, name="MiniGrid-DoorKey-5x5-v0"):
        self.env = gymnasium.make(name).unwrapped

    def reset(self, task):
        self.env.reset(seed=task)
        return f"Your goal: {self.env.mission}.\n{self.view()}"

    def step(self, action):
        if action not in self.ACTIONS:
            return REFUSAL + ", ".join(self.ACTIONS) + ".", 0, False
        _, reward, terminated, truncated, _ = self.env.step(self.ACTIONS[action])
        return self.view(), reward, terminated or truncated

    def view(self):
        """What the agent sees, in words. Of the walls only those that touch it."""
        grid, visible = self.env.gen_obs_grid()
        ahead, middle = grid.height - 1, grid.width // 2  # where the agent is; it looks upwards
        things = []
        for forward in range(grid.height):
            for right in range(-middle, grid.width - middle):
                cell = grid.get(middle + right, ahead - forward)
                steps = forward + abs(right)
                if not cell or not visible[middle + right, ahead - forward] or steps == 0:
                    continue
                if cell.type == "wall" and steps > 1:
                    continue
                name = "a wall" if cell.type == "wall" else f"a {cell.color} {cell.type}"
                if cell.type == "door":
                    state = "open" if cell.is_open else "locked" if cell.is_locked else "closed"
                    name += f" that is {state}"
                things.append(f"{name} {self.place(forward, right)}")
        carried = self.env.carrying
        return (f"You see {'; '.join(things) or 'nothing'}."
                + (f" You carry a {carried.color} {carried.type}." if carried else ""))

    @staticmethod
    def place(forward, right):
        parts = (forward, "forward"), (abs(right), "right" if right > 0 else "left")
        return " and ".join(f"{n} step{'s' * (n > 1)} {way}" for n, way in parts if n)


if __name__ == "__main__":
    from agentr_env import serve

    serve(lambda: TextMiniGrid(*sys.argv[1:2]), name="minigrid", tasks=1000)
