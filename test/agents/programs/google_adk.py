"""Google ADK, whose models come by LiteLLM."""

import asyncio
import os

import tracing
from google.adk.agents import LlmAgent
from google.adk.models.lite_llm import LiteLlm
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from google.genai import types


def lookup_order(order_id: str) -> dict:
    """Look up an order."""
    return {"order_id": order_id, "status": "shipped"}


agent = LlmAgent(
    name="order_agent",
    model=LiteLlm(model="openai/gpt-5-mini", api_base=os.environ["OPENAI_BASE_URL"]),
    instruction="You look up orders.",
    tools=[lookup_order],
)


async def main():
    sessions = InMemorySessionService()
    who = {"user_id": "ada", "session_id": "chat-1"}
    await sessions.create_session(app_name="orders", **who)
    runner = Runner(agent=agent, app_name="orders", session_service=sessions)
    question = types.Content(role="user", parts=[types.Part(text=os.environ["QUESTION"])])
    async for event in runner.run_async(**who, new_message=question):
        if event.is_final_response() and event.content:
            print(event.content.parts[0].text)


asyncio.run(main())
tracing.stop()
