# The job with LangChain for Python over the responses format.
import os
import subprocess

from langchain_core.messages import HumanMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI


@tool
def bash(command: str) -> str:
    """Runs a command."""
    return subprocess.run(command, shell=True, capture_output=True, text=True).stdout


model = ChatOpenAI(
    model=os.environ["GATE_MODEL"],
    base_url=os.environ["GATE_URL"],
    api_key=os.environ["GATE_KEY"],
    use_responses_api=True,
    store=False,
    include=["reasoning.encrypted_content"],
    reasoning={"effort": "medium", "summary": "auto"},
).bind_tools([bash])

messages = [HumanMessage(os.environ["GATE_PROMPT"])]
while True:
    answer = model.invoke(messages)
    messages.append(answer)
    if not answer.tool_calls:
        break
    messages.extend(bash.invoke(call) for call in answer.tool_calls)
print(answer.text)
