// A job with more tools than the model is shown: it searches for the one that it needs, which an MCP server has.
import { mkdirSync } from 'node:fs';
import { callTool, canDoJob, findTool, type Job, SHORT_ANSWER } from './job.ts';
import { BELL, RANG } from './mcp-server.ts';

const SEARCH = /^ToolSearch$/i;
const CLOSING = 'The bell rang.';

export const search: Job = {
  prompt: 'Ring the bell of the front desk, and tell me whether it rang.',
  closing: CLOSING,

  write: (folder) => void mkdirSync(folder, { recursive: true }),

  nextCall({ tools, calls }) {
    if (calls === 0) return callTool(findTool(tools, SEARCH), { query: `select:mcp__desk__${BELL}` });
    return calls === 1 ? callTool(findTool(tools, new RegExp(`${BELL}$`)), {}) : undefined;
  },

  say({ tools, text }) {
    if (!canDoJob(tools)) return SHORT_ANSWER;
    return text.includes(RANG) && text.includes('tool_reference') ? CLOSING : 'The bell did not ring.';
  },

  isDone: () => true,
};
