// Where an error may be in what an upstream answers, and what is taken from it.
import { expect } from 'chai';
import { findComplaint } from '../../../lib/upstream/host/error-body.ts';

const LONG = 'x'.repeat(3000);

describe('the complaint in an answer', () => {
  it('has its message under any of the names that servers use', () => {
    for (const name of ['message', 'msg', 'error_msg', 'details', 'Message', 'Msg', 'title']) {
      expect(findComplaint({ error: { [name]: 'm' } })?.message, name).to.equal('m');
    }
    for (const place of ['error', 'errors', 'detail', 'Error', 'ErrorMsg']) {
      expect(findComplaint({ [place]: { message: 'm' } })?.message, place).to.equal('m');
      expect(findComplaint({ [place]: [{ message: 'm' }] })?.message, place).to.equal('m');
      expect(findComplaint({ [place]: 'm' })?.message, place).to.equal('m');
    }
    for (const name of ['message', 'msg']) expect(findComplaint({ error: true, [name]: 'm' })?.message).to.equal('m');
    expect(findComplaint({ error: { code: 7 } })?.message).to.equal('{"code":7}');
    expect(findComplaint({ error: { message: '', code: 7 } })?.message).to.equal('{"message":"","code":7}');
    expect(findComplaint({ error: { message: { why: 'm' } } })?.message).to.equal('{"why":"m"}');
  });

  it('has what a vendor said beside the message of a broker', () => {
    const error = {
      message: 'Provider returned error',
      code: 400,
      metadata: { raw: '{"error":"prompt is too long"}' },
    };
    expect(findComplaint({ error })).to.deep.include({ message: `${error.message}: ${error.metadata.raw}` });
    const { metadata: _, ...plain } = error;
    for (const raw of [undefined, null, '', 7]) {
      expect(findComplaint({ error: { ...plain, metadata: { raw } } })?.message, `${raw}`).to.equal(plain.message);
    }
  });

  it('has the codes of the error, its reason and those of its details, and the codes around it, in this order', () => {
    const inner = { code: 'A', type: 'B', status: 'C', error_code: 'D', http_code: 'E', httpCode: 'F', Code: 'G' };
    const reasons = { reason: 'H', details: [{ reason: 'I' }, 1] };
    const error = { ...inner, ...reasons, message: 'm', metadata: { error_type: 'J' } };
    const outer = { code: 'K', type: 'L', error_type: 'M', error_code: 'N', status: 'O' };
    expect(findComplaint({ error, ...outer })).to.deep.equal({ message: 'm', words: [...'abcdefghijklmno'] });
    const flat = { code: 403, reason: 'NOT_ENOUGH_BALANCE', message: 'empty' };
    expect(findComplaint(flat)?.words).to.include('not_enough_balance');
  });

  it('has no words that say nothing, and none too long for one', () => {
    for (const code of ['', '0', 0, 'ERROR', 'null', 'none', 'api_error', LONG, 'x'.repeat(100), true, null, {}]) {
      expect(findComplaint({ error: { message: 'm', code } }), `${code}`).to.deep.equal({ message: 'm', words: [] });
    }
    expect(findComplaint({ error: { message: 'm', code: 'x'.repeat(99) } })?.words).to.deep.equal(['x'.repeat(99)]);
  });

  it('has a status where a code is one of an error', () => {
    const rows = [
      ...([400, 599, '503'] as const).map((code) => [{ error: { message: 'm', code } }, Number(code)] as const),
      ...([399, 600, 400.5, '7'] as const).map((code) => [{ error: { message: 'm', code } }, undefined] as const),
      [{ error: { message: 'm' }, status_code: 429 }, 429],
      [{ error: { message: 'm', status_code: 402 } }, 402],
      [{ error: { message: 'm', code: 401 }, status: 500 }, 401],
    ] as const;
    for (const [value, status] of rows) expect(findComplaint(value)?.status, JSON.stringify(value)).to.equal(status);
  });

  it('is there without an object of its own, where the answer says that it failed', () => {
    for (const value of [
      { type: 'error' },
      { object: 'error' },
      { success: false },
      { error_code: 1 },
      { error_msg: 'm' },
      { status: 400 },
      { status: 599 },
      { code: 1 },
      { code: 'BAD', choices: [] },
      { message: 'm' },
      { msg: 'm' },
    ]) {
      expect(findComplaint(value), JSON.stringify(value)).to.have.property('message');
      expect(findComplaint([value]), JSON.stringify(value)).to.have.property('message');
    }
    for (const value of [
      {},
      { success: true },
      { status: 399 },
      { status: 600 },
      { status: '500' },
      ...['', 0, '0', 200, 20000, 'OK', 'Success'].map((code) => ({ code, message: 'm' })),
      { code: null, choices: [], message: 'm' },
      { message: 'm', choices: [] },
      { message: '' },
      { base_resp: {} },
    ]) {
      expect(findComplaint(value), JSON.stringify(value)).to.equal(undefined);
    }
  });

  it('is of the code beside the answer, with what it says', () => {
    const told = (base_resp: object) => findComplaint({ base_resp, choices: [] });
    expect(told({ status_code: 7, status_msg: 'm' })).to.deep.equal({ message: 'm', words: ['base:7'] });
    expect(told({ status_code: 7 })).to.deep.equal({ message: 'no message', words: ['base:7'] });
  });

  it('is none where an error has nothing but empty fields', () => {
    const empty = { message: '', type: '', param: '', code: null };
    for (const error of [empty, { code: 0, message: '' }, { message: null }, { details: [], inner: {} }, [], {}]) {
      expect(findComplaint({ error, choices: [] }), JSON.stringify(error)).to.equal(undefined);
      expect(findComplaint({ error, message: 'm' }, true)?.message, JSON.stringify(error)).to.equal('m');
    }
    for (const more of [{ code: 7 }, { message: 'm' }, { details: ['m'] }, { inner: { code: 7 } }]) {
      expect(findComplaint({ error: { ...empty, ...more } }), JSON.stringify(more)).not.to.equal(undefined);
    }
  });

  it('has when to ask again where the body says so', () => {
    for (const value of [
      { detail: 'Request was throttled.', status: 429, retry_after: 8 },
      { error: { message: 'm', retry_after: '8' } },
      { error: { message: 'm', metadata: { retry_after_seconds: 8 } } },
    ]) {
      expect(findComplaint(value)?.retryDelay, JSON.stringify(value)).to.equal('8');
    }
    for (const retry_after of [null, {}, true]) {
      expect(findComplaint({ error: { message: 'm', retry_after } })).not.to.have.property('retryDelay');
    }
  });

  it('is no longer than it helps', () => {
    expect(findComplaint({ error: { code: LONG } })?.message).to.have.length(2000);
    expect(findComplaint({ error: { message: [LONG] } })?.message).to.have.length(2000);
  });
});
