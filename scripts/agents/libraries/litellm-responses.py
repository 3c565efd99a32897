# The job with LiteLLM's function for the responses format.
import json
import os
import subprocess

import litellm

BASH = {
    "type": "function",
    "name": "bash",
    "description": "Runs a command.",
    "parameters": {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]},
}

items = [{"role": "user", "content": os.environ["GATE_PROMPT"]}]
while True:
    response = litellm.responses(
        model=f"openai/{os.environ['GATE_MODEL']}",
        api_base=os.environ["GATE_URL"],
        api_key=os.environ["GATE_KEY"],
        input=items,
        tools=[BASH],
        store=False,
        include=["reasoning.encrypted_content"],
        reasoning={"effort": "medium", "summary": "auto"},
    )
    output = [item if isinstance(item, dict) else item.model_dump(exclude_none=True) for item in response.output]
    items.extend(output)
    calls = [item for item in output if item["type"] == "function_call"]
    if not calls:
        break
    for call in calls:
        command = json.loads(call["arguments"])["command"]
        said = subprocess.run(command, shell=True, capture_output=True, text=True).stdout
        items.append({"type": "function_call_output", "call_id": call["call_id"], "output": said})
print(output[-1]["content"][0]["text"])
