# The job with the Agents SDK for Python: streamed, with thoughts that go back to the model.
import asyncio
import os
import subprocess

from agents import Agent, ModelSettings, Runner, function_tool, set_default_openai_client, set_tracing_disabled
from openai import AsyncOpenAI
from openai.types.shared import Reasoning

set_tracing_disabled(True)
set_default_openai_client(AsyncOpenAI(base_url=os.environ["GATE_URL"], api_key=os.environ["GATE_KEY"]))


@function_tool
def bash(command: str) -> str:
    """Runs a command."""
    return subprocess.run(command, shell=True, capture_output=True, text=True).stdout


agent = Agent(
    name="Mender",
    instructions="Mend what is broken.",
    model=os.environ["GATE_MODEL"],
    model_settings=ModelSettings(
        store=False,
        reasoning=Reasoning(effort="medium", summary="auto"),
        response_include=["reasoning.encrypted_content"],
    ),
    tools=[bash],
)


async def main() -> None:
    ran = Runner.run_streamed(agent, os.environ["GATE_PROMPT"], max_turns=100)
    async for _ in ran.stream_events():
        pass
    print(ran.final_output)


asyncio.run(main())
