"""
Evaluates a function on a dataset, as a trace, and compares it with an earlier evaluation. With
--max-fall it exits with 1 if the mean of a score fell by more: for CI. It needs Python 3.10 alone.

    PENNYTRACE_URL=http://127.0.0.1:8787 PENNYTRACE_KEY=svc_… \
      python3 clients/python/evaluate.py --dataset orders --model careful --max-fall 0.05
"""
import argparse, base64, json, math, os, re, sys, time, uuid
import urllib.error, urllib.parse, urllib.request
from concurrent.futures import ThreadPoolExecutor, as_completed
from datetime import datetime, timezone

# What is evaluated: put your own in its place.
SAMPLE = [
    {"inputs": {"question": "Where is order W1001?"}, "expected": "on its way"},
    {"inputs": {"question": "Where is order W1002?"}, "expected": "delivered"},
    {"inputs": {"question": "Where is order W9999?"}, "expected": "unknown"},
]
ORDERS = {"W1001": "on its way", "W1002": "delivered"}
def answer(inputs, model):
    """Stands for an application: it answers a question, and says which tokens that took."""
    time.sleep(0.02)
    found = ORDERS.get(re.search(r"W\d+", inputs["question"])[0])
    if not found and model == "hasty":
        raise ValueError("no such order")
    output = "on its way" if model == "hasty" else found or "unknown"
    return output, {"usage": {model: {"prompt_tokens": 40, "completion_tokens": 5, "requests": 1}}}

SCORERS = {
    "correct": lambda output, row: {"value": output == row["expected"], "reason": f"expected: {row['expected']}"},
    "brevity": lambda output, row: {"value": max(0, 1 - len(str(output)) / 100)},
}
# How: nothing below depends on what is evaluated.
parser = argparse.ArgumentParser()
parser.add_argument("--dataset", default="orders")
parser.add_argument("--model", default="careful")
parser.add_argument("--parallel", type=int, default=8)
parser.add_argument("--baseline", help="a name or an evaluation's id; without it, the latest that passed")
parser.add_argument("--set-baseline", action="store_true", help="the name is this evaluation's from now on")
parser.add_argument("--max-fall", type=float, default=math.inf)
options = parser.parse_args()
if options.set_baseline and not options.baseline:
    parser.error("--set-baseline needs a --baseline <name>")
model = options.model
url = os.environ.get("PENNYTRACE_URL", "http://127.0.0.1:8787")
authorization = "Basic " + base64.b64encode(f"api:{os.environ.get('PENNYTRACE_KEY', '')}".encode()).decode()
project_id = os.environ.get("PENNYTRACE_PROJECT", "demo/shop")
ref = lambda path: f"svc:///{project_id}/{path}"
now = lambda: datetime.now(timezone.utc).isoformat()

def post(path, body, tries=3):
    """Sends a request, again after a failure that may pass. Answers None for what is not there."""
    headers = {"authorization": authorization, "accept": "application/json", "content-type": "application/json"}
    request = urllib.request.Request(url + path, json.dumps(body).encode(), headers)
    try:
        with urllib.request.urlopen(request) as response:
            return json.load(response)
    except urllib.error.HTTPError as error:
        if error.code == 404:
            return None
        if tries == 1 or (error.code < 500 and error.code != 429):
            raise RuntimeError(f"{path} answered {error.code}: {error.read().decode()}") from error
    time.sleep(0.5)
    return post(path, body, tries - 1)

def create(name, val):
    obj = {"project_id": project_id, "object_id": name, "val": val}
    return ref(f"object/{name}:{post('/obj/create', {'obj': obj})['digest']}")

def latest(name):
    return post("/obj/read", {"project_id": project_id, "object_id": name, "digest": "latest"})

def read_dataset(name):
    """The rows of the stored dataset, and its ref. If there is none, the sample is stored."""
    found = latest(name)
    if not found:
        table = post("/table/create", {"table": {"project_id": project_id, "rows": SAMPLE}})
        rows = ref(f"table/{table['digest']}")
        return SAMPLE, create(name, {"_type": "Dataset", "name": name, "rows": rows, "saved_at": now()})
    digest = found["obj"]["val"]["rows"].split("/")[-1]
    rows = post("/table/query", {"project_id": project_id, "digest": digest})["rows"]
    return [row["val"] for row in rows], ref(f"object/{name}:{found['obj']['digest']}")

reports = []
def send():
    batch = reports[:]  # while others add to it
    del reports[: len(batch)]
    post("/call/upsert_batch", {"batch": batch})

def traced(op, above, inputs, step):
    """Runs a step as a call below another one, and reports it. None if it fails."""
    at = {"id": str(uuid.uuid4()), "trace_id": above["trace_id"] if above else str(uuid.uuid4())}
    start = {**at, "project_id": project_id, "parent_id": above and above["id"], "inputs": inputs}
    start |= {"op_name": ref(f"op/{op}:v1"), "started_at": now(), "attributes": {"source": "evaluation"}}
    reports.append({"mode": "start", "req": {"start": start}})
    end = {"project_id": project_id, "id": at["id"]}
    try:
        output, summary = step(at)
        end |= {"output": output, "summary": summary}
    except Exception as error:
        end["exception"] = repr(error)
    reports.append({"mode": "end", "req": {"end": {**end, "ended_at": now()}}})
    return end.get("output")

def predict_and_score(row, above):
    """One row: the function, then its scorers. What fails scores 0. Latency in seconds."""
    def work(at):
        began = time.perf_counter()
        output = traced("answer", at, {**row["inputs"], "model": model}, lambda _: answer(row["inputs"], model))
        latency, scores = time.perf_counter() - began, {}
        for name, score in SCORERS.items():
            given = {"output": output, "example": row}
            verdict = output is not None and traced(name, at, given, lambda _: (score(output, row), {}))
            scores[name] = float(verdict["value"]) if verdict else 0
        return {"output": output, "scores": scores, "model_latency": latency}, {}

    return traced("Evaluation.predict_and_score", above, {"example": row, "model": model}, work)
def evaluate(root):
    global evaluation
    evaluation = root["id"]
    runs = json.dumps([*(each["id"] for each in found), root["id"]])
    page = urllib.parse.urlencode({"project": project_id, "runs": runs})
    print(f"Evaluation {root['id']}\n{url}/ui/evaluation?{page}")
    results = []
    with ThreadPoolExecutor(options.parallel) as pool:
        for done in as_completed([pool.submit(predict_and_score, row, root) for row in rows]):
            results.append(done.result())
            bar = ("█" * (30 * len(results) // len(rows))).ljust(30, "░")
            print(f"\r{bar} {len(results)}/{len(rows)}", end="", file=sys.stderr)
            if len(reports) > 200:
                send()
    means = {name: {"mean": sum(each["scores"][name] for each in results) / len(rows)} for name in SCORERS}
    # Without a limit, only what is no worse at all becomes what later evaluations are compared with.
    allowed = options.max_fall if math.isfinite(options.max_fall) else 0
    passed = all(fall_of(name, value["mean"]) <= allowed for name, value in means.items())
    latency = {"mean": sum(each["model_latency"] for each in results) / len(rows)}
    return {**means, "model_latency": latency}, {"passed": passed}

def fall_of(name, mean):
    """How far the mean of a score is below the baseline's."""
    before = found[0]["output"].get(name, {}).get("mean") if found and name in SCORERS else None
    return 0 if before is None else round(before - mean, 9)  # sums of another order round otherwise
equal = lambda path, value: {"$eq": [{"$getField": path}, {"$literal": value}]}
rows, dataset = read_dataset(options.dataset)
definition = {"_type": "Evaluation", "name": options.dataset, "dataset": dataset, "scorers": list(SCORERS)}
self = create(f"{options.dataset}-evaluation", definition)  # the same value is the same version
by_op = {"op_names": [ref("op/Evaluation.evaluate:v1")]}
place = re.sub(r"[^\w.-]", "-", f"{options.dataset}-baseline-{options.baseline}", flags=re.ASCII)
stored = latest(place) if options.baseline else None
named = stored["obj"]["val"]["evaluation"] if stored else options.baseline
comparable = [equal("inputs.self", self), equal("summary.svc.status", "success")]
found = post("/calls/stream_query", {
    "project_id": project_id, "columns": ["id", "output"], "limit": 1,
    "filter": {"call_ids": [named]} if named else by_op,
    "query": {"$expr": {"$and": comparable if named else [*comparable, equal("summary.passed", True)]}},
    "sort_by": [{"field": "started_at", "direction": "desc"}],
})
if named and not found and not options.set_baseline:
    sys.exit(f"{named} is no evaluation of this version of the dataset: set one with --set-baseline.")
summary = traced("Evaluation.evaluate", None, {"self": self, "model": model}, evaluate)
send()
fell = summary is None
print(f"\n{'score':20}      mean  baseline")
for name, value in (summary or {}).items():
    mean, before = value["mean"], found[0]["output"].get(name, {}).get("mean") if found else None
    too_low = fall_of(name, mean) > options.max_fall
    print(f"{name:20}{mean:10.3f}{'–' if before is None else format(before, '.3f'):>10}{' fell' * too_low}")
    fell = fell or too_low
if options.set_baseline and not fell:
    create(place, {"_type": "Baseline", "evaluation": evaluation})
    print(f"The baseline {options.baseline} is this evaluation from now on.")
sys.exit(1 if fell else 0)
