"""Claude Code by its SDK, which brings the CLI: a tool of an MCP server, a command that fails, and a sub-agent."""

import asyncio
import os

from claude_agent_sdk import (
    AgentDefinition,
    ClaudeAgentOptions,
    ClaudeSDKClient,
    create_sdk_mcp_server,
    tool,
)


@tool("lookup_order", "Look up an order", {"order_id": str})
async def lookup_order(arguments):
    return {"content": [{"type": "text", "text": f"order {arguments['order_id']} is shipped"}]}


options = ClaudeAgentOptions(
    cwd=os.getcwd(),
    model="claude-sonnet-4-5",
    system_prompt={"type": "preset", "preset": "claude_code", "append": "You answer in a bookshop."},
    allowed_tools=["Bash", "Read", "Agent", "Task", "mcp__orders__lookup_order"],
    mcp_servers={"orders": create_sdk_mcp_server("orders", "1.0.0", tools=[lookup_order])},
    agents={
        "policy-reader": AgentDefinition(
            description="Reads the policies",
            prompt="You read the policies of the bookshop.",
            tools=["Read"],
            model="haiku",
        )
    },
    max_turns=12,
    setting_sources=[],
    env={
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        "OTEL_LOGS_EXPORT_INTERVAL": "1000",
        "OTEL_TRACES_EXPORT_INTERVAL": "1000",
    },
)


async def main():
    async with ClaudeSDKClient(options=options) as client:
        await client.query(os.environ["QUESTION"])
        async for message in client.receive_response():
            print(type(message).__name__, str(message)[:300])
        await asyncio.sleep(2.5)


asyncio.run(main())
