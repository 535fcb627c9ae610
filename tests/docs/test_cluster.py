"""The numbers and names in the files of `docs/how-to/cluster.md`, which `test_commands` runs on one machine."""

import re

from ruamel.yaml import YAML

from tests.helpers.repository import ROOT

PAGE = (ROOT / "docs/how-to/cluster.md").read_text(encoding="utf-8")
FILES = dict(re.findall(r"^cat > (\S+) << 'END'\n(.*?)^END$", PAGE, re.M | re.S))


def manifests(name):
    yaml = YAML(typ="safe", pure=True)  # libyaml refuses the colons of PATH in a mapping of one line
    return {each["kind"]: each for each in yaml.load_all(FILES[name])}


def pods(job):
    return job["spec"]["template"]["spec"]


def test_as_many_tasks_as_models():
    (models,) = re.findall(r"^models=\((.*)\)$", FILES["experiments.sh"], re.M)
    count = len(models.split())
    assert manifests("experiments.yaml")["Job"]["spec"]["completions"] == count
    assert f"#SBATCH --array=0-{count - 1}\n" in FILES["experiments.sh"]


def test_pods_of_a_training_meet_at_the_first():
    service, job = manifests("train.yaml")["Service"], manifests("train.yaml")["Job"]
    name, spec = job["metadata"]["name"], job["spec"]
    assert service["spec"]["clusterIP"] == "None"  # headless: the name of a pod leads to the pod
    assert service["spec"]["publishNotReadyAddresses"]  # before all of them are ready
    assert service["spec"]["selector"] == {"job-name": name}  # the label that Kubernetes gives the pods of a Job
    assert pods(job)["subdomain"] == service["metadata"]["name"]
    assert spec["completions"] == spec["parallelism"]  # all run at once
    _, script, machines, endpoint, processes = pods(job)["containers"][0]["command"]
    assert script == "train-node.sh"
    assert int(machines) == spec["completions"]
    assert endpoint == f"{name}-0.{pods(job)['subdomain']}:29500"
    assert int(processes) >= 1
