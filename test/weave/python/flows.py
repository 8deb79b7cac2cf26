"""What people do with Weave's Python SDK, tried against a running service with default settings.

The environment has WF_TRACE_SERVER_URL, WANDB_BASE_URL and WANDB_API_KEY. Each flow is a function
below; its first line of documentation is what the table of docs/clients.md says. Prints one line of
JSON for each flow: its group, what it does, whether it worked, and why not.
"""

import asyncio
import datetime
import io
import json
import os
import signal
import sys
import time
import traceback
import wave

import weave
from PIL import Image
from weave.scorers.llm_as_a_judge_scorer import LLMAsAJudgeScorer

try:
    from weave.flow.llm_structured_model import LLMStructuredCompletionModel
except ImportError:  # before 0.53
    from weave.trace_server.interface.builtin_object_classes.llm_structured_model import LLMStructuredCompletionModel

PROJECT = "acme/python-sdk"
SECONDS = 30
flows = []


def flow(group):
    def register(function):
        flows.append((group, function))
        return function

    return register


def client():
    return weave.get_client()


def calls_of(op, **options):
    """The calls of an op, once everything has been sent."""
    client().flush()
    return list(client().get_calls(filter={"op_names": [op.ref.uri]}, **options))


def the(items):
    items = list(items)
    assert len(items) == 1, f"{len(items)} instead of one"
    return items[0]


# Tracing


@flow("Tracing")
def sync_op():
    """A function is traced with its inputs and its output"""

    @weave.op
    def add(a: int, b: int) -> int:
        return a + b

    assert add(2, 3) == 5
    call = the(calls_of(add))
    assert (call.inputs["a"], call.inputs["b"], call.output) == (2, 3, 5)
    assert call.summary["weave"]["status"] == "success"


@flow("Tracing")
def async_op():
    """An async function"""

    @weave.op
    async def slow(a: int) -> int:
        await asyncio.sleep(0.01)
        return a * 2

    assert asyncio.run(slow(4)) == 8
    assert the(calls_of(slow)).output == 8


@flow("Tracing")
def nested_ops():
    """Nested calls share a trace and have parents"""

    @weave.op
    def inner(a):
        return a + 1

    @weave.op
    def outer(a):
        return inner(a) + inner(a + 1)

    outer(1)
    parent = the(calls_of(outer))
    children = calls_of(inner)
    assert {child.parent_id for child in children} == {parent.id}
    assert {child.trace_id for child in children} == {parent.trace_id}
    assert len(list(parent.children())) == 2


@flow("Tracing")
def generator_op():
    """A generator, until its end"""

    @weave.op
    def count(n):
        yield from range(n)

    assert list(count(3)) == [0, 1, 2]
    assert the(calls_of(count)).ended_at


@flow("Tracing")
def async_generator_op():
    """An async generator"""

    @weave.op
    async def stream(n):
        for i in range(n):
            yield i

    async def collect():
        return [i async for i in stream(3)]

    assert asyncio.run(collect()) == [0, 1, 2]
    assert the(calls_of(stream)).ended_at


@flow("Tracing")
def accumulated_op():
    """A stream with an accumulator"""

    @weave.op(accumulator=lambda state, item: (state or "") + item)
    def words():
        yield from ["a", "b", "c"]

    assert list(words()) == ["a", "b", "c"]
    assert the(calls_of(words)).output == "abc"


@flow("Tracing")
def failing_op():
    """An exception is recorded and raised"""

    @weave.op
    def fails():
        raise ValueError("boom")

    try:
        fails()
        raise AssertionError("nothing was raised")
    except ValueError:
        pass
    call = the(calls_of(fails))
    assert "boom" in call.exception and call.summary["weave"]["status"] == "error"


@flow("Tracing")
def failing_nested_op():
    """An exception in a call below"""

    @weave.op
    def below():
        raise RuntimeError("deep")

    @weave.op
    def above():
        try:
            below()
        except RuntimeError:
            return "caught"

    assert above() == "caught"
    assert the(calls_of(above)).summary["weave"]["status"] == "descendant_error"


@flow("Tracing")
def threads():
    """Calls of threads, with turns"""

    @weave.op
    def turn(a):
        return a

    with weave.thread("thread-1") as context:
        turn(1)
        turn(2)
    assert context.thread_id == "thread-1"
    calls = calls_of(turn)
    assert {call.thread_id for call in calls} == {"thread-1"}
    assert all(call.turn_id == call.id for call in calls)


@flow("Tracing")
def five_hundred_calls():
    """500 calls in a loop"""

    @weave.op
    def many(i):
        return i

    for i in range(500):
        many(i)
    assert sorted(call.output for call in calls_of(many)) == list(range(500))


@flow("Tracing")
def attributes():
    """Attributes for all calls of a block"""

    @weave.op
    def marked():
        return 1

    with weave.attributes({"env": "test", "build": {"number": 7}}):
        marked()
    found = the(calls_of(marked)).attributes
    assert found["env"] == "test" and found["build"]["number"] == 7


@flow("Tracing")
def display_names():
    """Display names: set by the op, changed, removed"""

    @weave.op(call_display_name="first name")
    def named():
        return 1

    _, call = named.call()
    client().flush()
    assert client().get_call(call.id).display_name == "first name"
    call.set_display_name("second name")
    client().flush()
    assert client().get_call(call.id).display_name == "second name"
    call.remove_display_name()
    client().flush()
    assert not client().get_call(call.id).display_name


@flow("Tracing")
def call_returns_call():
    """`op.call()` gives the result and the call"""

    @weave.op
    def answer():
        return 42

    result, call = answer.call()
    assert result == 42
    client().flush()
    assert client().get_call(call.id).output == 42


@flow("Tracing")
def methods():
    """Methods of an object, and the object as an input"""

    class Greeter(weave.Object):
        greeting: str

        @weave.op
        def greet(self, name: str) -> str:
            return f"{self.greeting} {name}"

    assert Greeter(greeting="Hello").greet("Ada") == "Hello Ada"
    call = the(calls_of(Greeter.greet))
    assert call.inputs["self"].greeting == "Hello"


@flow("Tracing")
def postprocessed():
    """Inputs and outputs that are changed before they are sent"""

    @weave.op(
        postprocess_inputs=lambda inputs: {"secret": "***"},
        postprocess_output=lambda output: len(output),
    )
    def guarded(secret):
        return secret

    guarded("abc")
    call = the(calls_of(guarded))
    assert dict(call.inputs) == {"secret": "***"} and call.output == 3


@flow("Tracing")
def logged_call():
    """`weave.log_call` without an op"""
    call = weave.log_call(op="imported", inputs={"a": 1}, output={"b": 2.0})
    client().flush()
    found = client().get_call(call.id)
    assert found.inputs["a"] == 1 and found.output["b"] == 2.0


@flow("Tracing")
def manual_call():
    """`create_call` and `finish_call`"""
    call = client().create_call("manual", {"x": 1})
    client().finish_call(call, output="done")
    client().flush()
    assert client().get_call(call.id).output == "done"


@flow("Tracing")
def deleted_calls():
    """Calls are deleted"""

    @weave.op
    def doomed():
        return 1

    _, call = doomed.call()
    client().flush()
    call.delete()
    client().flush()
    assert calls_of(doomed) == []


@flow("Tracing")
def exact_numbers():
    """Numbers stay what they are: 1.0, and integers of any size"""

    @weave.op
    def numbers(x):
        return x

    given = {"float": 1.0, "big": 2**60 + 1, "int": 1}
    numbers(given)
    output = the(calls_of(numbers)).output
    assert isinstance(output["float"], float) and output["big"] == 2**60 + 1


# Objects


@flow("Objects")
def published_dict():
    """Publish and get a dictionary"""
    ref = weave.publish({"a": [1, {"b": "c"}]}, "settings")
    assert weave.ref(ref.uri).get() == {"a": [1, {"b": "c"}]}


@flow("Objects")
def published_versions():
    """Versions of an object; the same value makes none"""
    first = weave.publish({"v": 1}, "versioned")
    second = weave.publish({"v": 2}, "versioned")
    again = weave.publish({"v": 2}, "versioned")
    assert second.digest == again.digest != first.digest
    client().flush()
    assert weave.ref("versioned:latest").get() == {"v": 2}
    assert weave.ref("versioned:v0").get() == {"v": 1}


@flow("Objects")
def published_op():
    """Publish and get an op with its code"""

    @weave.op
    def doubled(a: int) -> int:
        return a * 2

    ref = weave.publish(doubled)
    assert ref.get()(21) == 42


@flow("Objects")
def published_object():
    """Objects of classes, nested"""

    class Address(weave.Object):
        city: str

    class Person(weave.Object):
        who: str
        address: Address

    ref = weave.publish(Person(who="Ada", address=Address(city="London")), "person")
    assert ref.get().address.city == "London"


@flow("Objects")
def string_prompt():
    """A prompt with placeholders"""
    ref = weave.publish(weave.StringPrompt("Say {word}!"), "string-prompt")
    assert ref.get().format(word="hello") == "Say hello!"


@flow("Objects")
def messages_prompt():
    """A prompt of messages"""
    ref = weave.publish(weave.MessagesPrompt([{"role": "user", "content": "Hi"}]), "messages-prompt")
    assert ref.get().messages[0]["content"] == "Hi"


@flow("Objects")
def labelled_prompts():
    """Prompts are labelled, read by their label, moved back, and named by the calls that took them"""
    first = weave.publish(weave.MessagesPrompt([{"role": "user", "content": "Where is {order}?"}]), "labelled")
    second = weave.publish(weave.MessagesPrompt([{"role": "user", "content": "Find {order}."}]), "labelled")
    greeting = weave.publish(weave.StringPrompt("Hi {name}"), "greeting")
    client().flush()

    @weave.op
    def ask(prompt: weave.MessagesPrompt, order: str):
        return prompt.format(order=order)[0]["content"]

    @weave.op
    def greet(prompt: weave.StringPrompt, name: str):
        return prompt.format(name=name)

    for ref, answer in [(first, "Where is W1?"), (second, "Find W1."), (first, "Where is W1?")]:
        weave.set_aliases(ref, "production")
        assert ask(weave.ref("labelled:production").get(), "W1") == answer
    assert greet(greeting.get(), "Ada") == "Hi Ada"
    calls = sorted(calls_of(ask), key=lambda call: call.started_at)
    assert [call.attributes["prompt"] for call in calls] == [
        {"name": "labelled", "version": version} for version in ["0", "1", "0"]
    ]
    assert the(calls_of(greet)).attributes["prompt"] == {"name": "greeting", "version": "0"}


@flow("Objects")
def model_object():
    """A model is published, read and used"""

    class Adder(weave.Model):
        n: int

        @weave.op
        def predict(self, x: int) -> int:
            return x + self.n

    ref = weave.publish(Adder(n=5), "adder")
    client().flush()
    assert ref.get().predict(1) == 6


@flow("Objects")
def image():
    """An image as an object and as an output"""
    picture = Image.new("RGB", (8, 8), "red")
    ref = weave.publish({"picture": picture}, "picture")
    assert ref.get()["picture"].size == (8, 8)

    @weave.op
    def draw():
        return picture

    draw()
    assert the(calls_of(draw)).output.size == (8, 8)


@flow("Objects")
def audio():
    """A sound as an output"""

    @weave.op
    def sound():
        data = io.BytesIO()
        with wave.open(data, "wb") as writer:
            writer.setnchannels(1)
            writer.setsampwidth(2)
            writer.setframerate(8000)
            writer.writeframes(b"\x00\x01" * 800)
        data.seek(0)
        return wave.open(data, "rb")

    sound()
    assert the(calls_of(sound)).output.getnframes() == 800


@flow("Objects")
def content():
    """A file's bytes as content"""

    @weave.op
    def document():
        return weave.Content.from_bytes(b"%PDF-1.4 tiny", mimetype="application/pdf", extension="pdf")

    document()
    assert the(calls_of(document)).output.data == b"%PDF-1.4 tiny"


@flow("Objects")
def deleted_object():
    """Versions are deleted, by name and all at once"""
    refs = [weave.publish({"n": n}, "short-lived") for n in range(3)]
    client().flush()
    client().delete_object_version(refs[1])
    assert client().delete_all_object_versions("short-lived") == 2


@flow("Objects")
def tags_and_aliases():
    """Tags and aliases of a version"""
    ref = weave.publish({"tagged": True}, "tagged")
    client().flush()
    weave.add_tags(ref, ["good", "fast"])
    assert sorted(weave.get_tags(ref)) == ["fast", "good"]
    weave.remove_tags(ref, ["fast"])
    assert weave.get_tags(ref) == ["good"]
    weave.set_aliases(ref, "production")
    assert "production" in weave.get_aliases(ref)
    assert weave.ref("tagged:production").get() == {"tagged": True}
    assert "good" in weave.list_tags() and "production" in weave.list_aliases()
    weave.remove_aliases(ref, "production")
    assert "production" not in weave.get_aliases(ref)


@flow("Objects")
def saved_by_client():
    """`client.save`"""
    saved = client().save({"kept": 1}, "kept")
    assert saved["kept"] == 1


# Datasets


@flow("Datasets")
def dataset():
    """A dataset is published and read"""
    rows = [{"q": f"question {i}", "a": i} for i in range(5)]
    ref = weave.publish(weave.Dataset(name="small", rows=rows))
    found = ref.get()
    assert [row["a"] for row in found] == list(range(5)) and len(found) == 5


@flow("Datasets")
def appended_dataset():
    """Rows are appended to a dataset"""
    ref = weave.publish(weave.Dataset(name="growing", rows=[{"a": 1}]))
    longer = ref.get().add_rows([{"a": 2}, {"a": 3}])
    again = weave.publish(longer, "growing")
    assert [row["a"] for row in again.get()] == [1, 2, 3]


@flow("Datasets")
def long_dataset():
    """A dataset of 2,500 rows"""
    rows = [{"i": i, "text": f"row {i} " + "x" * 100} for i in range(2500)]
    found = weave.publish(weave.Dataset(name="long", rows=rows)).get()
    assert len(found) == 2500 and found[2499]["i"] == 2499
    assert sum(row["i"] for row in found) == sum(range(2500))


@flow("Datasets")
def row_refs():
    """A row of a dataset as an input leads back to the dataset"""

    @weave.op
    def judge(row):
        return row["a"]

    found = weave.publish(weave.Dataset(name="judged", rows=[{"a": 7}])).get()
    for row in found:
        judge(row)
    call = the(calls_of(judge))
    assert call.inputs["row"]["a"] == 7


@flow("Datasets")
def dataset_of_calls():
    """A dataset is made of calls"""

    @weave.op
    def source(a):
        return a

    for i in range(3):
        source(i)
    made = weave.Dataset.from_calls(calls_of(source))
    found = weave.publish(made, "from-calls").get()
    assert len(found) == 3


# Evaluations


def question_rows():
    return [{"x": 1, "target": 2}, {"x": 2, "target": 3}, {"x": 3, "target": 5}]


@flow("Evaluations")
def evaluation_of_functions():
    """An evaluation with function scorers"""

    @weave.op
    def exact(target: int, output: int) -> dict:
        return {"correct": target == output}

    @weave.op
    def increment(x: int) -> int:
        return x + 1

    evaluation = weave.Evaluation(name="by-function", dataset=question_rows(), scorers=[exact])
    result = asyncio.run(evaluation.evaluate(increment))
    assert result["exact"]["correct"]["true_count"] == 2


@flow("Evaluations")
def evaluation_of_classes():
    """An evaluation of a model with a class as its scorer"""

    class Distance(weave.Scorer):
        scale: float = 1.0

        @weave.op
        def score(self, output: int, target: int) -> dict:
            return {"distance": abs(output - target) * self.scale}

    class Incrementer(weave.Model):
        step: int

        @weave.op
        def predict(self, x: int) -> int:
            return x + self.step

    evaluation = weave.Evaluation(name="by-class", dataset=question_rows(), scorers=[Distance()])
    result = asyncio.run(evaluation.evaluate(Incrementer(step=1)))
    assert abs(result["Distance"]["distance"]["mean"] - 1 / 3) < 1e-9


@flow("Evaluations")
def evaluation_of_dataset():
    """An evaluation of a published dataset, read back"""
    data = weave.publish(weave.Dataset(name="questions", rows=question_rows())).get()

    @weave.op
    def close(target: int, output: int) -> bool:
        return abs(target - output) <= 1

    @weave.op
    def next_of(x: int) -> int:
        return x + 1

    evaluation = weave.Evaluation(name="of-dataset", dataset=data, scorers=[close])
    result = asyncio.run(evaluation.evaluate(next_of))
    assert result["close"]["true_count"] == 3
    client().flush()
    assert any(found.name == "of-dataset" for found in client().get_evaluations())


@flow("Evaluations")
def evaluation_logger():
    """`EvaluationLogger`: predictions and scores one by one"""
    logger = weave.EvaluationLogger(model="a-model", dataset="a-dataset", name="logged")
    for i in range(3):
        prediction = logger.log_prediction(inputs={"i": i}, output=i * 2)
        prediction.log_score("correct", i % 2 == 0)
        prediction.finish()
    logger.log_summary({"of": 3})
    client().flush()
    found = list(client().get_calls(filter={"op_names": [f"weave:///{PROJECT}/op/Evaluation.evaluate:*"]}))
    assert any(call.display_name == "logged" and call.output for call in found)


@flow("Evaluations")
def leaderboard():
    """A leaderboard of evaluations"""
    from weave.flow.leaderboard import get_leaderboard_results

    try:
        from weave.trace.builtin_object_classes import leaderboard as boards
    except ImportError:  # before 0.53
        from weave.trace_server.interface.builtin_object_classes import leaderboard as boards
    from weave.trace.ref_util import get_ref

    @weave.op
    def right(target: int, output: int) -> bool:
        return target == output

    @weave.op
    def contender(x: int) -> int:
        return x + 1

    evaluation = weave.Evaluation(name="ranked", dataset=question_rows(), scorers=[right])
    asyncio.run(evaluation.evaluate(contender))
    client().flush()
    spec = boards.Leaderboard(
        name="ranks",
        columns=[
            boards.LeaderboardColumn(
                evaluation_object_ref=get_ref(evaluation).uri,
                scorer_name="right",
                summary_metric_path="true_count",
            )
        ],
    )
    weave.publish(spec)
    client().flush()
    results = get_leaderboard_results(spec, client())
    assert results[0].column_scores[0].scores[0].value == 2


@flow("Evaluations")
def applied_scorer():
    """A scorer is applied to a call, and calls are found by it"""

    class Polite(weave.Scorer):
        @weave.op
        def score(self, output: str) -> dict:
            return {"polite": "please" in output}

    @weave.op
    def say(text: str) -> str:
        return text

    _, call = say.call("yes, please")
    client().flush()
    asyncio.run(call.apply_scorer(Polite()))
    client().flush()
    found = the(client().get_calls(filter={"op_names": [say.ref.uri]}, scored_by="Polite"))
    assert found.id == call.id


@flow("Evaluations")
def structured_model():
    """An `LLMStructuredCompletionModel` is asked, with a prompt of its own and one that is published"""
    model = LLMStructuredCompletionModel(
        llm_model_id="any",
        default_params={
            "messages_template": [{"role": "user", "content": "Say {word}"}],
            "response_format": "text",
        },
    )
    assert "Say hello" in model.predict(word="hello")
    prompt = weave.publish(weave.MessagesPrompt([{"role": "user", "content": "Whisper {word}"}]), name="whisper")
    client().flush()
    model = LLMStructuredCompletionModel(
        llm_model_id="any", default_params={"prompt": prompt.uri, "response_format": "text"}
    )
    assert "Whisper goodbye" in model.predict(word="goodbye")
    client().flush()
    assert len(list(client().get_calls(filter={"op_names": ["weave.completions_create"]}))) == 2


@flow("Evaluations")
def judged_by_a_model():
    """An evaluation with an `LLMAsAJudgeScorer`"""
    judge = LLMAsAJudgeScorer(
        name="judge",
        model=LLMStructuredCompletionModel(
            llm_model_id="any", default_params={"response_format": "text"}
        ),
        scoring_prompt="Is {output} more than {x}?",
    )

    @weave.op
    def more(x: int) -> int:
        return x + 1

    evaluation = weave.Evaluation(name="judged", dataset=question_rows(), scorers=[judge])
    assert "judge" in asyncio.run(evaluation.evaluate(more))
    client().flush()
    asked = client().get_calls(filter={"op_names": ["weave.completions_create"]})
    assert sum(call.inputs["messages"][0]["content"].startswith("Is ") for call in asked) == 3


# Feedback


def called():
    @weave.op
    def subject():
        return "x"

    _, call = subject.call()
    client().flush()
    return call


@flow("Feedback")
def reactions_and_notes():
    """Reactions and notes on a call"""
    call = called()
    call.feedback.add_reaction("👍")
    call.feedback.add_note("well done")
    client().flush()
    kinds = sorted(item.feedback_type for item in client().get_call(call.id).feedback)
    assert kinds == ["wandb.note.1", "wandb.reaction.1"]


@flow("Feedback")
def custom_feedback():
    """Feedback of one's own type, with any payload"""
    call = called()
    call.feedback.add("correctness", {"value": 4, "why": {"deep": [1.0]}})
    client().flush()
    assert the(client().get_call(call.id).feedback).payload["value"] == 4


@flow("Feedback")
def purged_feedback():
    """Feedback is purged"""
    call = called()
    identifier = call.feedback.add_note("to be removed")
    client().flush()
    call.feedback.purge(identifier)
    assert len(client().get_call(call.id).feedback) == 0


@flow("Feedback")
def queried_feedback():
    """Feedback is queried over a project, by reaction and in pages"""
    for _ in range(3):
        called().feedback.add_reaction("🎯")
    client().flush()
    assert len(list(client().get_feedback(reaction="🎯"))) == 3
    assert len(list(client().get_feedback(reaction="🎯", limit=2))) == 2


@flow("Feedback")
def annotations():
    """An `AnnotationSpec` is published, and calls are annotated by it"""
    spec = weave.publish(
        weave.AnnotationSpec(name="Tone", field_schema={"type": "string", "enum": ["kind", "rude"]}), name="tone"
    )
    call = called()
    client().server.feedback_create(
        {
            "project_id": client().project_id,
            "weave_ref": call.ref.uri,
            "feedback_type": "wandb.annotation.tone",
            "annotation_ref": spec.uri,
            "payload": {"value": "kind"},
        }
    )
    client().flush()
    assert weave.ref(spec.uri).get().value_is_valid("rude")
    noted = the(client().get_call(call.id).feedback)
    assert (noted.payload["value"], noted.annotation_ref) == ("kind", spec.uri)


@flow("Feedback")
def feedback_over_time():
    """Feedback is counted over time, by the paths that its payloads have"""
    for stars in (2, 4):
        called().feedback.add("review", {"output": {"stars": stars, "good": stars > 3}})
    client().flush()
    start = (datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(days=1)).isoformat()
    span = {"project_id": client().project_id, "start": start, "feedback_type": "review"}
    paths = client().server.feedback_payload_schema(span).paths
    assert [(path.json_path, path.value_type) for path in paths] == [
        ("output.good", "boolean"),
        ("output.stars", "numeric"),
    ]
    metrics = [{"json_path": path.json_path, "value_type": path.value_type} for path in paths]
    stats = client().server.feedback_stats({**span, "metrics": metrics})
    assert sum(bucket["count"] for bucket in stats.buckets) == 2
    assert stats.window_stats["output_stars"]["avg"] == 3
    assert stats.window_stats["output_good"]["count_true"] == 1


# Queries


def prepared():
    @weave.op
    def measured(n: int, model: str):
        return {"n": n, "deep": {"list": [n]}}

    for n in range(6):
        with weave.attributes({"even": n % 2 == 0}):
            measured(n, "m-1" if n < 3 else "m-2")
    client().flush()
    return measured


@flow("Queries")
def queried_calls():
    """`get_calls`: filter, sort, limit, offset, columns"""
    op = prepared()
    filter = {"op_names": [op.ref.uri]}
    sort_by = [{"field": "inputs.n", "direction": "desc"}]
    found = client().get_calls(filter=filter, sort_by=sort_by, limit=2, offset=1, columns=["inputs.n"])
    assert [call.inputs["n"] for call in found] == [4, 3]
    assert len(client().get_calls(filter=filter)) == 6


@flow("Queries")
def expressions():
    """`get_calls` with an expression: $and, $gt, $contains, $not"""
    op = prepared()
    n = {"$convert": {"input": {"$getField": "inputs.n"}, "to": "int"}}
    query = {
        "$expr": {
            "$and": [
                {"$gt": [n, {"$literal": 1}]},
                {"$contains": {"input": {"$getField": "inputs.model"}, "substr": {"$literal": "2"}}},
                {"$not": [{"$eq": [n, {"$literal": 4}]}]},
                {"$eq": [{"$getField": "parent_id"}, {"$literal": ""}]},
            ]
        }
    }
    found = client().get_calls(filter={"op_names": [op.ref.uri]}, query=query)
    assert {call.inputs["n"] for call in found} == {3, 5}


@flow("Queries")
def included():
    """`get_calls` with costs, feedback, sizes and usernames"""

    @weave.op
    def costly():
        return {"usage": {"prompt_tokens": 1000, "completion_tokens": 10}, "model": "gpt-4o-mini"}

    _, call = costly.call()
    client().flush()
    call.feedback.add_note("n")
    client().flush()
    found = the(
        client().get_calls(
            filter={"call_ids": [call.id]},
            include_costs=True,
            include_feedback=True,
            include_storage_size=True,
            include_total_storage_size=True,
            include_usernames=True,
        )
    )
    weave_summary = found.summary["weave"]
    assert len(weave_summary["feedback"]) == 1 and found.storage_size_bytes > 0
    assert "gpt-4o-mini" in weave_summary["costs"], weave_summary


@flow("Queries")
def feedback_in_queries():
    """`get_calls` by what feedback says"""
    call = called()
    call.feedback.add("rating", {"stars": 5})
    client().flush()
    field = {"$getField": "feedback.[rating].payload.stars"}
    query = {"$expr": {"$gte": [{"$convert": {"input": field, "to": "int"}}, {"$literal": 5}]}}
    assert the(client().get_calls(query=query)).id == call.id


@flow("Queries")
def pages():
    """`get_calls` in pages"""

    @weave.op
    def paged(i):
        return i

    for i in range(25):
        paged(i)
    found = calls_of(paged, page_size=10)
    assert sorted(call.output for call in found) == list(range(25))


@flow("Queries")
def costs():
    """Prices: added, queried, purged"""
    added = client().add_cost(llm_id="my-model", prompt_token_cost=0.01, completion_token_cost=0.02)
    identifier = dict(added.ids)["my-model"] if added.ids else added.ids[0][1]
    assert [cost.llm_id for cost in client().query_costs(llm_ids=["my-model"])] == ["my-model"]
    client().purge_costs(identifier)
    assert client().query_costs(llm_ids=["my-model"]) == []


# Running


class TooLong(Exception):
    """A flow hangs."""


def on_alarm(*_):
    raise TooLong(f"not over after {SECONDS} s")


def run(group, function):
    title = (function.__doc__ or "").strip()
    began = time.monotonic()
    signal.alarm(SECONDS)
    try:
        function()
        problem = None
    except BaseException as error:  # noqa: BLE001: whatever it is, the next flow is tried
        if isinstance(error, KeyboardInterrupt):
            raise
        if "VERBOSE" in os.environ:
            traceback.print_exc()
        where = traceback.extract_tb(error.__traceback__)[-1]
        problem = f"{type(error).__name__}: {error} ({os.path.basename(where.filename)}:{where.lineno})"
    finally:
        signal.alarm(0)
    return {
        "group": group,
        "flow": title,
        "works": problem is None,
        "problem": problem,
        "seconds": round(time.monotonic() - began, 1),
    }


def main():
    signal.signal(signal.SIGALRM, on_alarm)
    weave.init(PROJECT)
    chosen = [each for each in flows if not sys.argv[1:] or each[1].__name__ in sys.argv[1:]]
    for group, function in chosen:
        print(json.dumps(run(group, function)), flush=True)

    def finishing():
        """`weave.finish()` returns within seconds"""
        began = time.monotonic()
        weave.finish()
        assert time.monotonic() - began < 10

    print(json.dumps(run("Ending", finishing)), flush=True)


main()
