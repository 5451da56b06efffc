"""Forwards the metrics of a run to a tracker, while it runs or afterwards.

    python3 -m agentr.track train_result/agent_r --to wandb --project agentr --follow
    python3 -m agentr.track rl_result/ppo --to mlflow --project agentr

A run is the folder of agent_train or agent_rl, with its metrics.jsonl; its files are only read. W&B and MLflow are used
as they are configured (WANDB_MODE=offline, MLFLOW_TRACKING_URI). The run there has the folder's name and the options of its
resolved.toml. TensorBoard needs none of this: the folder has its events.
"""

import argparse
import json
import numbers
import os
import time


def flat(record, prefix=""):
    """{"train": {"loss": 1}} -> {"train/loss": 1.0}; only numbers stay."""
    result = {}
    for name, value in record.items():
        if isinstance(value, dict):
            result.update(flat(value, f"{prefix}{name}/"))
        elif isinstance(value, numbers.Real) and not isinstance(value, bool):
            result[prefix + name] = float(value)
    return result


def metrics(folder, follow=False, poll=2.0):
    """Yields (step, {name: number}) of each line of metrics.jsonl, and with `follow` waits for more until
    nothing has come for an hour. A line that is only half written is waited for; what was sent already (a run that
    continues after a kill repeats the steps since its checkpoint) is not yielded again. A step may have several lines."""
    path, position, last, silent = os.path.join(folder, "metrics.jsonl"), 0, -1, 0.0
    sent = set()  # the names of the step `last`
    while True:
        size = os.path.getsize(path) if os.path.exists(path) or not follow else 0
        if size < position:
            position = 0
        with open(path, "rb") if size else open(os.devnull, "rb") as file:
            file.seek(position)
            for line in file:
                if not line.endswith(b"\n"):
                    break
                position += len(line)
                silent = 0.0
                record = json.loads(line)
                step = int(record.get("step", record.get("iteration", last + 1)))
                if step > last:
                    last, sent = step, set()
                values = flat({k: v for k, v in record.items() if k not in ("step", "iteration")})
                if step == last and not values.keys() <= sent:
                    sent |= values.keys()
                    yield step, values
        if not follow or silent > 3600:
            return
        time.sleep(poll)
        silent += poll


def options(folder):
    """What the run was made with: its resolved.toml, where this Python reads TOML (3.11)."""
    path = os.path.join(folder, "resolved.toml")
    try:
        import tomllib
        with open(path, "rb") as file:
            return tomllib.load(file)
    except (ImportError, FileNotFoundError):
        return {}


def to_wandb(folder, project, lines):
    import wandb
    run = wandb.init(project=project, name=os.path.basename(os.path.normpath(folder)), config=options(folder))
    for step, values in lines:
        run.log(values, step=step)
    run.finish()


def to_mlflow(folder, project, lines):
    import mlflow
    mlflow.set_experiment(project)
    with mlflow.start_run(run_name=os.path.basename(os.path.normpath(folder))):
        # MLflow refuses names with other signs, and values of more than 6,000 characters.
        mlflow.log_params({name: str(value)[:6000] for name, value in options(folder).items()})
        for step, values in lines:
            mlflow.log_metrics(values, step=step)


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python3 -m agentr.track", description=__doc__.splitlines()[0])
    parser.add_argument("run", help="folder with metrics.jsonl")
    parser.add_argument("--to", choices=["wandb", "mlflow"], required=True)
    parser.add_argument("--project", default="agentr", help="W&B's project or MLflow's experiment")
    parser.add_argument("--follow", action="store_true", help="wait for further steps; Ctrl-C ends it")
    args = parser.parse_args(arguments)
    if not args.follow and not os.path.exists(os.path.join(args.run, "metrics.jsonl")):
        parser.error(f"{args.run} has no metrics.jsonl: name the folder of a run of agent_train or agent_rl")
    lines = metrics(args.run, args.follow)
    {"wandb": to_wandb, "mlflow": to_mlflow}[args.to](args.run, args.project, lines)


if __name__ == "__main__":
    main()
