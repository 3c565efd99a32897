// Responses requests with tools in the shape of chats, which some clients send to both.
import { expect } from 'chai';
import { parse } from './stage.ts';

describe('responses requests with the tools of a chat', () => {
  it('read them, and repeat them as their own', () => {
    const look = { name: 'look', parameters: null, description: 'Looks.' };
    const { tools, echo } = parse({
      tools: [{ type: 'function', function: look }],
      tool_choice: { type: 'function', function: { name: 'look' } },
    });
    expect(tools?.list).to.have.length(1);
    expect(tools?.list[0]).to.include({ name: 'look', description: 'Looks.' });
    expect(tools?.choice).to.deep.equal({ name: 'look' });
    const { members } = echo as { members: string };
    expect(JSON.parse(`{${members}}`)).to.deep.include({
      tools: [{ type: 'function', ...look }],
      tool_choice: { type: 'function', name: 'look' },
    });
  });
});
