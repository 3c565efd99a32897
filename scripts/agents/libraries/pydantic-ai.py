# The job with pydantic-ai over the responses format.
import os
import subprocess

from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIResponsesModel, OpenAIResponsesModelSettings
from pydantic_ai.profiles.openai import OpenAIModelProfile
from pydantic_ai.providers.openai import OpenAIProvider

provider = OpenAIProvider(base_url=os.environ["GATE_URL"], api_key=os.environ["GATE_KEY"])
settings = OpenAIResponsesModelSettings(
    openai_store=False, openai_reasoning_effort="medium", openai_reasoning_summary="auto"
)
# It sends back the thoughts only of models whose names it knows.
profile = OpenAIModelProfile(openai_supports_encrypted_reasoning_content=True)
model = OpenAIResponsesModel(os.environ["GATE_MODEL"], provider=provider, profile=profile)
agent = Agent(model, model_settings=settings)


@agent.tool_plain
def bash(command: str) -> str:
    """Runs a command."""
    return subprocess.run(command, shell=True, capture_output=True, text=True).stdout


print(agent.run_sync(os.environ["GATE_PROMPT"]).output)
