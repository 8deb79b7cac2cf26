"""A program that uses the client of Python; prompts.mjs is the same in JavaScript."""
import json
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

from pennytrace import MessagesPrompt, PennytraceClient

client = None
told = []
printing = threading.Lock()
NAMES = {"versionIndex": "version_index", "cacheSeconds": "cache_seconds", "timeoutSeconds": "timeout_seconds"}
NAMES["maxCharacters"] = "max_characters"


def own(options):
    return {NAMES.get(name, name): value for name, value in options.items()}


def describe(prompt):
    is_messages = isinstance(prompt, MessagesPrompt)
    return {
        "kind": "messages" if is_messages else "text",
        "name": prompt.name,
        "versionIndex": prompt.version_index,
        "digest": prompt.digest,
        "labels": prompt.labels,
        "variables": prompt.variables,
        "config": prompt.config,
        "content": prompt.messages if is_messages else prompt.text,
    }


def make(options):
    global client
    told.clear()
    client = PennytraceClient(**own(options), on_error=lambda error: told.append(str(error)))


def many(given):
    names, times = given.pop("names"), given.pop("times")
    wanted = [name for name in names for _ in range(times)]
    with ThreadPoolExecutor(len(wanted)) as pool:
        prompts = pool.map(lambda name: client.get_prompt(name, **own(given)), wanted)
        return [prompt.version_index for prompt in prompts]


def compile(given):
    name, values = given.pop("name"), given.pop("values", None)
    return client.get_prompt(name, **own(given)).compile(values)


def spoil(given):
    prompt = client.get_prompt(**own(given))
    prompt.messages[0]["content"] = "spoiled"
    prompt.compile()[-1]["content"][0]["deep"]["value"] = "spoiled"
    return describe(client.get_prompt(**own(given)))


work = {
    "client": make,
    "get": lambda given: describe(client.get_prompt(**own(given))),
    "many": many,
    "compile": compile,
    "spoil": spoil,
    "told": lambda _: told,
}


def do(line):
    read = json.loads(line)
    try:
        came = {"result": work[read["task"]](read["given"])}
    except Exception as error:
        came = {"error": f"{type(error).__name__}: {error}"}
    with printing:
        print(json.dumps({"id": read["id"], **came}), flush=True)


for line in sys.stdin:
    threading.Thread(target=do, args=(line,)).start()
