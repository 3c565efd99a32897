// The log line of a request and the report to metrics, for every end of its reply and its call.
import { EventEmitter } from 'node:events';
import type { Request } from '@hapi/hapi';
import { expect } from 'chai';
import { type FinishedRequest, logRequest } from '../../lib/http/access-log.ts';
import { createRequestState, type LiveCall, type Notes } from '../../lib/http/request-state.ts';

type Line = Readonly<Record<string, unknown>>;

interface Reply {
  readonly headersSent?: boolean;
  readonly statusCode?: number;
  readonly writableFinished?: boolean;
}

const COMPLETE: Reply = { headersSent: true, statusCode: 201, writableFinished: true };

describe('access log', () => {
  let lines: { level: string; line: Line; message: string }[];
  let pasts: FinishedRequest[];

  beforeEach(() => {
    [lines, pasts] = [[], []];
  });

  const log = {
    debug: (line: object, message: string) => void lines.push({ level: 'debug', line: line as Line, message }),
    error: (line: object, message: string) => void lines.push({ level: 'error', line: line as Line, message }),
    line: (line: object, message: string) => void lines.push({ level: 'info', line: line as Line, message }),
  };

  /** A request that is being logged; `close` ends its connection. */
  function open(
    reply: Reply,
    {
      path = '/a',
      route = '/{p*}',
      notes = {},
      ageMs = 0,
    }: { path?: string; route?: string; notes?: Notes; ageMs?: number } = {},
  ) {
    const response = Object.assign(new EventEmitter(), {
      headersSent: false,
      statusCode: 200,
      writableFinished: false,
      ...reply,
    });
    const socket = { bytesRead: 700, remoteAddress: '::ffff:192.0.2.1' as string | undefined };
    const opened = createRequestState();
    const state = { ...opened, startedAt: opened.startedAt - ageMs };
    Object.assign(state.notes, notes);
    const request = {
      app: { tollgate: state },
      raw: { req: { socket }, res: response },
      method: 'post',
      path,
      route: { path: route },
      server: { settings: {} },
    };
    logRequest(request as unknown as Request, log as never, (past) => pasts.push(past));
    // A connection that is lost has none.
    socket.remoteAddress = undefined;
    return { state, socket, close: () => response.emit('close') };
  }

  it('writes one line with the id, the times and the collected fields', () => {
    const { state, socket, close } = open(COMPLETE, { notes: { model: 'model-a' }, ageMs: 20 });
    expect([lines, pasts]).to.deep.equal([[], []]);
    socket.bytesRead += 1234;
    close();
    const [{ level, message, line } = { level: '', message: '', line: {} }] = lines;
    const { ms, ...rest } = line;
    expect([lines.length, level, message]).to.deep.equal([1, 'info', 'request']);
    expect(rest).to.deep.equal({
      request_id: state.id,
      method: 'post',
      path: '/a',
      status: 201,
      aborted: false,
      address: '192.0.2.1',
      model: 'model-a',
    });
    expect(ms).to.be.a('number').within(20, 5000);
    expect(Number.isInteger(ms)).to.equal(true);
    expect(pasts).to.deep.equal([
      {
        id: state.id,
        method: 'post',
        route: '/{p*}',
        status: 201,
        ms,
        aborted: false,
        bytes: 1234,
        notes: state.notes,
      },
    ]);
  });

  it('has status 0 and says that the connection was lost if no reply was sent', () => {
    open({ statusCode: 200 }).close();
    open({ statusCode: 206, headersSent: true }).close();
    expect(lines.map(({ line }) => [line.status, line.aborted])).to.deep.equal([
      [0, true],
      [206, true],
    ]);
    expect(pasts.map(({ status, aborted }) => [status, aborted])).to.deep.equal([
      [0, true],
      [206, true],
    ]);
  });

  it('logs probes only if they fail, unless everything is wanted', () => {
    for (const statusCode of [200, 503]) open({ ...COMPLETE, statusCode }, { route: '/readyz' }).close();
    expect(lines.map(({ level, line }) => [level, line.status])).to.deep.equal([
      ['debug', 200],
      ['info', 503],
    ]);
  });

  it('logs an error after a failure of the gateway', () => {
    const err = new Error('ours');
    open(COMPLETE, { notes: { err } }).close();
    expect(lines[0]).to.deep.include({ level: 'error', message: 'request' });
    expect(lines[0]?.line.err).to.equal(err);
  });

  it('waits for the call of a client that left, and includes the fields noted until then', () => {
    const { state, close } = open({});
    const call: Pick<LiveCall, 'onClosed'> = {};
    state.call = call as LiveCall;
    close();
    expect([lines, pasts]).to.deep.equal([[], []]);
    state.notes.ending = 'gone';
    call.onClosed?.();
    expect([lines.length, pasts.length]).to.deep.equal([1, 1]);
    expect(lines[0]?.line).to.include({ ending: 'gone', aborted: true });
  });

  it('shortens long paths and secret names', () => {
    const long = `/${'p'.repeat(30).concat('/').repeat(20)}`;
    const name = `Abc123${'x'.repeat(37)}`;
    const paths = [long, `/media/${name}.png`, `/media/${name}y/${name}`, `/media/${name.slice(1)}`];
    for (const path of paths) open(COMPLETE, { path }).close();
    expect(lines.map(({ line }) => line.path)).to.deep.equal([
      long.slice(0, 256),
      '/media/Abc123….png',
      '/media/Abc123…/Abc123…',
      `/media/${name.slice(1)}`,
    ]);
  });
});
