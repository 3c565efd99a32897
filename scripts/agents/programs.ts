// The programs that `npm run agents` installs and runs, and their settings.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CLOSING } from './job-mend.ts';
import type { Place, Program, WireName } from './program.ts';

/** For clients that append `/v1/messages` themselves. */
const origin = ({ baseUrl }: Place) => baseUrl.replace(/\/v1$/, '');

const describeGate = ({ baseUrl, key, model }: Place, sdk: string) =>
  JSON.stringify({
    provider: {
      gate: {
        npm: sdk,
        name: 'Gate',
        options: { baseURL: baseUrl, apiKey: key },
        models: { [model]: { reasoning: true, tool_call: true, limit: { context: 128_000, output: 8192 } } },
      },
    },
    model: `gate/${model}`,
    small_model: `gate/${model}`,
    autoupdate: false,
    share: 'disabled',
    permission: { '*': 'allow' },
  });

const opencode = (wire: WireName, sdk: string): Program => ({
  name: `opencode, ${sdk}`,
  registry: 'npm',
  package: 'opencode-ai',
  runs: { command: 'opencode' },
  // It shows no images to a model of chats that it does not know.
  jobs: wire === 'chat' ? ['mend'] : ['mend', 'files'],
  wire,
  files: (place) => ({ [join(place.folder, 'opencode.json')]: describeGate(place, sdk) }),
  args: ({ prompt }) => ['run', prompt],
});

const kilo = (wire: WireName, sdk: string): Program => ({
  name: `Kilo, ${sdk}`,
  registry: 'npm',
  package: '@kilocode/cli',
  // Parts of 7.8.1 are missing from the registry.
  version: '7.7',
  runs: { command: 'kilo' },
  wire,
  files: (place) => ({ '.config/kilo/kilo.json': describeGate(place, sdk) }),
  args: ({ prompt }) => ['run', prompt],
});

const copilot = (wire: WireName, type: string, api: string): Program => ({
  name: `Copilot CLI, ${wire}`,
  registry: 'npm',
  package: '@github/copilot',
  runs: { command: 'copilot' },
  wire,
  env: (place) => ({
    COPILOT_PROVIDER_TYPE: type,
    COPILOT_PROVIDER_BASE_URL: type === 'anthropic' ? origin(place) : place.baseUrl,
    COPILOT_PROVIDER_API_KEY: place.key,
    COPILOT_PROVIDER_WIRE_API: api,
    COPILOT_MODEL: place.model,
  }),
  args: ({ prompt }) => ['-p', prompt, '--allow-all-tools', '--allow-all-paths', '--no-auto-update'],
});

const kimi = (wire: WireName, type: string): Program => ({
  name: `Kimi Code, ${wire}`,
  registry: 'npm',
  package: '@moonshot-ai/kimi-code',
  runs: { command: 'kimi' },
  wire,
  files: (place) => ({
    '.kimi-code/config.toml': [
      'default_model = "gate/model"',
      'telemetry = false',
      '[providers.gate]',
      `type = "${type}"`,
      `base_url = "${type === 'anthropic' ? origin(place) : place.baseUrl}"`,
      `api_key = "${place.key}"`,
      '[models."gate/model"]',
      'provider = "gate"',
      `model = "${place.model}"`,
      'max_context_size = 128000',
      'capabilities = ["thinking", "tool_use"]',
      '',
    ].join('\n'),
  }),
  args: ({ prompt }) => ['-p', prompt],
});

/** LiteLLM, through which several programs call their models, chooses the wire format by the model's prefix. */
const prefixModel = (wire: WireName, model: string) => `${wire === 'messages' ? 'anthropic' : 'openai'}/${model}`;

const describeLiteLlm = (place: Place) => ({
  OPENAI_API_BASE: place.baseUrl,
  OPENAI_API_KEY: place.key,
  ANTHROPIC_API_BASE: origin(place),
  ANTHROPIC_API_KEY: place.key,
  LITELLM_LOCAL_MODEL_COST_MAP: 'True',
});

const mini = (wire: WireName, modelClass: string): Program => ({
  name: `mini-swe-agent, ${wire}`,
  registry: 'pypi',
  package: 'mini-swe-agent',
  runs: { command: 'mini' },
  wire,
  env: (place) => ({ ...describeLiteLlm(place), MSWEA_CONFIGURED: 'true', MSWEA_COST_TRACKING: 'ignore_errors' }),
  args: ({ model, prompt }) => {
    const options = ['--model-class', modelClass, '-y', '--exit-immediately'];
    return ['-m', prefixModel(wire, model), ...options, '-t', prompt];
  },
  finish: `echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT && echo '${CLOSING}'`,
});

const LLM_TOOL = `import subprocess


def bash(command: str) -> str:
    "Run a command."
    result = subprocess.run(command, shell=True, capture_output=True, text=True)
    return result.stdout + result.stderr
`;

/** It has no tools of its own: the job's is a function of Python. */
const llm = (wire: WireName): Program => ({
  name: `llm, ${wire}`,
  registry: 'pypi',
  package: 'llm',
  runs: { command: 'llm' },
  wire,
  files: ({ baseUrl, model }) => ({
    'llm/extra-openai-models.yaml': [
      `- model_id: ${model}`,
      `  model_name: ${model}`,
      `  api_base: "${baseUrl}"`,
      '  api_key_name: gate',
      '  supports_tools: true',
      '  reasoning: true',
      `  responses: ${wire === 'responses'}`,
      '',
    ].join('\n'),
    'tools.py': LLM_TOOL,
  }),
  env: ({ home }) => ({ LLM_USER_PATH: join(home, 'llm') }),
  args: ({ home, key, model, prompt }) => {
    const options = ['--key', key, '--functions', join(home, 'tools.py'), '--chain-limit', '0'];
    return ['-m', model, ...options, prompt];
  },
});

/** Needs Python 3.12. */
const openhands = (wire: WireName): Program => ({
  name: `OpenHands, ${wire}`,
  registry: 'pypi',
  package: 'openhands',
  runs: { command: 'openhands' },
  wire,
  env: (place) => ({
    LLM_MODEL: prefixModel(wire, place.model),
    LLM_BASE_URL: wire === 'messages' ? origin(place) : place.baseUrl,
    LLM_API_KEY: place.key,
    LITELLM_LOCAL_MODEL_COST_MAP: 'True',
    OPENHANDS_SUPPRESS_BANNER: '1',
  }),
  args: ({ prompt }) => ['--headless', '--json', '--override-with-envs', '-t', prompt],
});

/** It has no tools: edits are in the text of an answer, and it runs the test after them. */
const aider = (wire: WireName): Program => ({
  name: `aider, ${wire}`,
  registry: 'pypi',
  package: 'aider-chat',
  runs: { command: 'aider' },
  wire,
  env: describeLiteLlm,
  args: ({ model, prompt }) => [
    ...['--model', prefixModel(wire, model), '--edit-format', 'diff'],
    ...['--auto-test', '--test-cmd', 'node test.js', '--yes-always', '--no-auto-commits'],
    ...['--no-check-update', '--analytics-disable', '--no-show-model-warnings', '--message', prompt, 'sum.js'],
  ],
});

const describeMcpServer = () => {
  const server = fileURLToPath(new URL('./mcp-server.ts', import.meta.url));
  return JSON.stringify({ mcpServers: { desk: { type: 'stdio', command: process.execPath, args: [server] } } });
};

export const PROGRAMS: readonly Program[] = [
  {
    name: 'Claude Code',
    registry: 'npm',
    package: '@anthropic-ai/claude-code',
    runs: { command: 'claude' },
    wire: 'messages',
    env: (place) => ({
      ANTHROPIC_BASE_URL: origin(place),
      ANTHROPIC_AUTH_TOKEN: place.key,
      ANTHROPIC_MODEL: place.model,
      ANTHROPIC_DEFAULT_HAIKU_MODEL: place.model,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      CLAUDE_CODE_MAX_OUTPUT_TOKENS: '8192',
      MAX_THINKING_TOKENS: '4000',
    }),
    jobs: ['mend', 'files', 'search'],
    files: ({ job }): Readonly<Record<string, string>> => (job === 'search' ? { 'mcp.json': describeMcpServer() } : {}),
    args: ({ prompt, home, job }) => [
      ...['-p', prompt, '--allowedTools', 'Bash Read Edit ToolSearch mcp__desk'],
      ...(job === 'search' ? ['--strict-mcp-config', '--mcp-config', join(home, 'mcp.json')] : []),
    ],
  },
  {
    name: 'Codex CLI',
    registry: 'npm',
    package: '@openai/codex',
    runs: { command: 'codex' },
    wire: 'responses',
    files: ({ baseUrl, model }) => ({
      '.codex/config.toml': [
        `model = "${model}"`,
        'model_provider = "gate"',
        'model_context_window = 128000',
        'model_reasoning_effort = "medium"',
        '[model_providers.gate]',
        'name = "Gate"',
        `base_url = "${baseUrl}"`,
        'env_key = "GATE_KEY"',
        'wire_api = "responses"',
        '',
      ].join('\n'),
    }),
    env: ({ key }) => ({ GATE_KEY: key }),
    args: ({ prompt }) => ['exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', prompt],
  },
  opencode('chat', '@ai-sdk/openai-compatible'),
  opencode('messages', '@ai-sdk/anthropic'),
  opencode('responses', '@ai-sdk/openai'),
  {
    name: 'Qwen Code',
    registry: 'npm',
    package: '@qwen-code/qwen-code',
    runs: { command: 'qwen' },
    wire: 'chat',
    files: () => ({
      '.qwen/settings.json': JSON.stringify({
        memory: { enableManagedAutoMemory: false },
        privacy: { usageStatisticsEnabled: false },
        general: { disableAutoUpdate: true },
      }),
    }),
    env: ({ baseUrl, key, model }) => ({ OPENAI_BASE_URL: baseUrl, OPENAI_API_KEY: key, OPENAI_MODEL: model }),
    args: ({ prompt }) => ['--auth-type', 'openai', '-y', '-p', prompt],
  },
  {
    name: 'pi',
    registry: 'npm',
    package: '@earendil-works/pi-coding-agent',
    // A dependency of 1.6.0 is missing from the registry.
    version: '1.5',
    runs: { command: 'pi' },
    wire: 'chat',
    files: ({ baseUrl, model }) => ({
      '.pi/agent/models.json': JSON.stringify({
        providers: {
          gate: {
            baseUrl,
            api: 'openai-completions',
            apiKey: '$GATE_KEY',
            models: [
              { id: model, name: model, reasoning: true, input: ['text'], contextWindow: 128_000, maxTokens: 8192 },
            ],
          },
        },
      }),
    }),
    env: ({ key }) => ({ GATE_KEY: key, PI_OFFLINE: '1' }),
    args: ({ prompt, model }) => ['--provider', 'gate', '--model', model, '-p', prompt],
  },
  {
    name: 'Cline',
    registry: 'npm',
    package: 'cline',
    runs: { command: 'cline' },
    wire: 'chat',
    setup: ({ baseUrl, key, model }) => ['auth', '-p', 'openai', '-k', key, '-m', model, '-b', baseUrl],
    args: ({ prompt }) => ['-P', 'openai', '--auto-approve', 'true', prompt],
  },
  {
    name: 'Continue',
    registry: 'npm',
    package: '@continuedev/cli',
    runs: { command: 'cn' },
    wire: 'chat',
    files: ({ baseUrl, key, model }) => ({
      'config.yaml': [
        'name: job',
        'version: 0.0.1',
        'schema: v1',
        'models:',
        `  - { name: gate, provider: openai, model: ${model}, apiBase: "${baseUrl}", apiKey: ${key}, roles: [chat], capabilities: [tool_use] }`,
        '',
      ].join('\n'),
    }),
    env: () => ({ CONTINUE_TELEMETRY_ENABLED: '0' }),
    args: ({ home, prompt }) => ['--config', join(home, 'config.yaml'), '--auto', '-p', prompt],
  },
  copilot('messages', 'anthropic', 'completions'),
  copilot('chat', 'openai', 'completions'),
  copilot('responses', 'openai', 'responses'),
  kimi('chat', 'openai'),
  kimi('messages', 'anthropic'),
  kimi('responses', 'openai_responses'),
  kilo('chat', '@ai-sdk/openai-compatible'),
  kilo('responses', '@ai-sdk/openai'),
  {
    name: 'nanocoder',
    registry: 'npm',
    package: '@nanocollective/nanocoder',
    runs: { command: 'nanocoder' },
    wire: 'chat',
    files: ({ baseUrl, key, model, folder }) => ({
      [join(folder, 'agents.config.json')]: JSON.stringify({
        nanocoder: { providers: [{ name: 'gate', baseUrl, apiKey: key, models: [model] }] },
      }),
    }),
    args: ({ prompt, model }) => [
      '--provider',
      'gate',
      '--model',
      model,
      '--mode',
      'yolo',
      '--trust-directory',
      'run',
      prompt,
    ],
  },
  {
    name: 'gptme',
    registry: 'pypi',
    package: 'gptme',
    runs: { command: 'gptme' },
    wire: 'chat',
    files: ({ baseUrl, key, model }) => ({
      '.config/gptme/config.toml': [
        '[[providers]]',
        'name = "gate"',
        `base_url = "${baseUrl}"`,
        `api_key = "${key}"`,
        `default_model = "${model}"`,
        '',
      ].join('\n'),
    }),
    args: ({ prompt, model }) => ['-m', `gate/${model}`, '--tool-format', 'tool', '--non-interactive', prompt],
  },
  {
    name: 'reasonix',
    registry: 'npm',
    package: 'reasonix',
    runs: { command: 'reasonix' },
    wire: 'chat',
    files: ({ baseUrl, key, model }) => ({
      '.reasonix/config.toml': [
        'default_model = "gate"',
        '[[providers]]',
        'name = "gate"',
        'kind = "openai"',
        `base_url = "${baseUrl}"`,
        `model = "${model}"`,
        'api_key_env = "GATE_KEY"',
        '',
      ].join('\n'),
      // It takes keys from here alone.
      '.reasonix/.env': `GATE_KEY=${key}\n`,
    }),
    args: ({ prompt }) => ['run', '--permission-mode', 'danger-full-access', prompt],
  },
  mini('chat', 'litellm'),
  mini('messages', 'litellm'),
  mini('responses', 'litellm_response'),
  llm('chat'),
  llm('responses'),
  aider('chat'),
  aider('messages'),
  openhands('chat'),
  openhands('messages'),
];
