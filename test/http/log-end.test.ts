// What is written of the log when a process ends, and that the log does not keep it from ending.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect } from 'chai';
import { itLong } from '../../testkit/long.ts';

const LOG = new URL('../../lib/http/log.ts', import.meta.url);

describe('the log of an ending process', () => {
  /** Runs a program that has a log; resolves to its exit code and its output. */
  async function run(destination: string, program: string): Promise<readonly [code: number | null, text: string]> {
    const code = `import { createLog } from '${LOG}';
      const log = createLog({ level: 'info', keyPrefix: 'tg-', destination: ${destination} });
      ${program}`;
    const stdio = ['ignore', 'pipe', 'ignore'] as const;
    const child = spawn(process.execPath, ['--input-type=module', '-e', code], { stdio: [...stdio], timeout: 8000 });
    let text = '';
    child.stdout?.setEncoding('utf8').on('data', (part: string) => {
      text += part;
    });
    const [exitCode] = await once(child, 'close');
    return [exitCode, text];
  }

  it('writes the last line, however the process ends', async () => {
    const [code, text] = await run('1', `log.info('last'); process.exit(3);`);
    expect([code, JSON.parse(text).msg]).to.deep.equal([3, 'last']);
  });

  itLong('writes the last line also after failed writes', async () => {
    const [code, text] = await run(
      '1',
      `const { default: fs } = await import('node:fs');
      const { write } = fs;
      fs.write = (...args) => {
        fs.write = write;
        args.at(-1)(Object.assign(new Error('no space'), { code: 'ENOSPC' }));
      };
      log.info('lost or late');
      await log.written();
      log.info('written');
      await log.written();
      log.info('last');
      process.exit(3);`,
    );
    expect([code, JSON.parse(text.trim().split('\n').at(-1) ?? '').msg]).to.deep.equal([3, 'last']);
  });

  /** Runs a program whose log nobody reads; resolves to how it ends. */
  async function runUnread(program: string): Promise<readonly [code: number | null, signal: string | null]> {
    const code = `import { createLog } from '${LOG}';
      const log = createLog({ level: 'info', keyPrefix: 'tg-' });
      ${program}
      for (let line = 0; line < 4000; line += 1) log.info('x'.repeat(200));
      const ends = await log.written();
      log.info('last');
      if (ends) process.exit(3);
      else process.kill(process.pid, 'SIGKILL');`;
    const stdio = ['ignore', 'pipe', 'ignore'] as const;
    const child = spawn(process.execPath, ['--input-type=module', '-e', code], { stdio: [...stdio], timeout: 8000 });
    const [exitCode, signal] = await once(child, 'exit');
    child.stdout?.destroy();
    return [exitCode, signal];
  }

  it('does not keep the process from ending if nobody reads the pipe', async () => {
    expect(await runUnread('')).to.deep.equal([3, null]);
  });

  it('says if a write keeps the process from ending, on a pipe that another process made blocking again', async () => {
    const inherit = `(await import('node:child_process')).spawnSync('true', { stdio: 'inherit' });`;
    expect(await runUnread(inherit)).to.deep.equal([null, 'SIGKILL']);
  });

  itLong('does not keep the process from ending if it cannot be written', async () => {
    const [code] = await run(`'/dev/full'`, `log.info('last'); await log.written(); process.exit(3);`);
    expect(code).to.equal(3);
  });
});
