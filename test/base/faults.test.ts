import { readFileSync } from 'node:fs';
import { Boom, badRequest } from '@hapi/boom';
import { expect } from 'chai';
import {
  FAULT_CODES,
  type FaultCode,
  type FaultDetail,
  type FaultType,
  fault,
  faultWithWallet,
  isFault,
  refundedFault,
  toFault,
} from '../../lib/base/faults.ts';

/** What stands for the values in the documentation. */
const DETAIL = {
  field: 'FIELD',
  hint: 'HINT',
  model: 'MODEL',
  isReserve: true,
  priceRub: 'PRICE',
  balanceRub: 'BALANCE',
  heldRub: 'HELD',
  minimumRub: 'MINIMUM',
  walletUrl: 'WALLET',
  budgetRub: 'BUDGET',
  reset: 'RESET',
  resetsAt: 'MOMENT',
  leftRub: 'LEFT',
  retryAfterS: 'SECONDS',
  bytes: 'BYTES',
  charge: 'CHARGE',
} as unknown as FaultDetail;

/** Which type and chat code belong to a status; the specification has most of them. */
const STATUSES: Readonly<Record<number, readonly [type: FaultType, ...chatCodes: string[]]>> = {
  400: ['invalid_request_error', 'invalid_request', 'previous_response_not_found'],
  401: ['authentication_error', 'invalid_api_key'],
  402: ['billing_error', 'insufficient_balance'],
  403: ['permission_error', 'account_suspended', 'model_not_allowed', 'address_not_allowed', 'scope_not_allowed'],
  404: ['not_found_error', 'not_found'],
  405: ['invalid_request_error', 'method_not_allowed'],
  408: ['invalid_request_error', 'request_timeout'],
  409: ['conflict_error', 'conflict'],
  413: ['invalid_request_error', 'request_too_large'],
  415: ['invalid_request_error', 'unsupported_media_type'],
  416: ['invalid_request_error', 'range_not_satisfiable'],
  426: ['invalid_request_error', 'no_websockets'],
  422: ['invalid_request_error', 'idempotency_mismatch'],
  429: ['rate_limit_error', 'rate_limit_exceeded'],
  431: ['invalid_request_error', 'request_too_large'],
  500: ['api_error', 'internal_error'],
  502: ['api_error', 'upstream_error'],
  503: ['api_error', 'service_unavailable'],
};

describe('faults', () => {
  it('match their documentation', () => {
    const text = readFileSync(new URL('../../docs/errors.md', import.meta.url), 'utf8');
    const rows = text
      .split('\n')
      .filter((line) => line.startsWith('| `'))
      .map((line) => line.slice(2, -2).split(' | '));
    expect(rows.map(([name]) => name?.replaceAll('`', ''))).to.have.members(FAULT_CODES);
    for (const [name = '', status, type, chatCode, again, when, message] of rows) {
      const { output, data, message: ours } = fault(name.replaceAll('`', '') as FaultCode, DETAIL);
      expect([status, type, chatCode, again, message], name).to.deep.equal([
        String(output.statusCode),
        `\`${data?.type}\``,
        `\`${data?.chatCode}\``,
        data?.retryable ? 'yes' : 'no',
        ours,
      ]);
      expect(when?.length, name).to.be.above(20);
    }
  });

  for (const code of FAULT_CODES) {
    describe(code, () => {
      const made = fault(code, DETAIL);

      it('has the type and chat code of its status', () => {
        const [type, ...chatCodes] = STATUSES[made.output.statusCode] ?? [];
        expect(made.data?.type).to.equal(type);
        expect(chatCodes).to.include(made.data?.chatCode);
      });

      it('does not suggest a retry that cannot help', () => {
        const { statusCode } = made.output;
        if ([400, 401, 402, 403, 404, 405, 413, 415].includes(statusCode)) expect(made.data?.retryable).to.equal(false);
        if ([429, 500, 503].includes(statusCode)) expect(made.data?.retryable).to.equal(true);
      });

      it('is one line of whole sentences', () => {
        expect(made.message).to.match(/^[A-Z][^\n]*\.$/);
        expect(made.message).not.to.match(/undefined|null|\[object/);
      });

      it('says that the charge was refunded', () => {
        const refunded = refundedFault(made);
        expect(refunded.message).to.equal(`${made.message} Charge refunded.`);
        expect(refunded.output.statusCode).to.equal(made.output.statusCode);
        expect(refunded.data).to.deep.equal({ ...made.data, detail: { ...DETAIL, refunded: true } });
        expect(refundedFault(refunded).message).to.equal(refunded.message);
      });
    });
  }

  it('keep their cause for the log, not in the message', () => {
    const cause = new Error('secret words');
    const made = fault('upstream_failed', {}, cause);
    expect(made.cause).to.equal(cause);
    expect(JSON.stringify(made.output) + made.message).not.to.contain('secret');
    expect(refundedFault(made).cause).to.equal(cause);
    expect('cause' in fault('internal')).to.equal(false);
  });

  it('mention a reserve only if there is one', () => {
    const detail = { priceRub: '5.00', balanceRub: '1.00' };
    expect(fault('insufficient_balance', detail).message).to.equal(
      'The balance is too low: this call costs 5.00 RUB and the balance is 1.00 RUB. Top up the wallet.',
    );
    expect(fault('insufficient_balance', { ...detail, isReserve: true }).message).to.equal(
      'The balance is too low: this call needs a reserve of 5.00 RUB and the balance is 1.00 RUB. ' +
        'Top up the wallet or lower `max_tokens`.',
    );
    expect(fault('insufficient_balance', { ...detail, isReserve: true, isLeast: true }).message).to.contain(
      'this call needs a reserve of at least 5.00 RUB and',
    );
    expect(fault('insufficient_balance', { balanceRub: '0.00', heldRub: '2.00' }).message).to.equal(
      'The balance is too low: it is 0.00 RUB. A further 2.00 RUB is reserved by calls still running. Top up the wallet.',
    );
  });

  it('name the wallet page if it is known and money is missing', () => {
    const detail = { priceRub: '5.00', balanceRub: '1.00', minimumRub: '1000.00' };
    const withPage = (code: FaultCode) => faultWithWallet(fault(code, detail), 'https://gate.example/account/wallet');
    for (const code of ['insufficient_balance', 'never_topped_up'] as const) {
      expect(withPage(code).message, code).to.contain('https://gate.example/account/wallet');
      expect(withPage(code).data?.code).to.equal(code);
    }
    expect(withPage('account_suspended').message).not.to.contain('https:');
    const cause = new Error('why');
    expect(faultWithWallet(fault('insufficient_balance', detail, cause), 'https://gate.example').cause).to.equal(cause);
  });

  it('mention held money only if there is some', () => {
    const detail = { priceRub: '5.00', balanceRub: '1.00' };
    expect(fault('insufficient_balance', detail).message).not.to.contain('held');
    expect(fault('insufficient_balance', { ...detail, heldRub: '2.00' }).message).to.contain('2.00 RUB is reserved');
  });

  it('omit unknown details', () => {
    const rows: readonly (readonly [code: FaultCode, detail: FaultDetail, message: string])[] = [
      ['unknown_model', { model: 'm' }, 'Unknown model `m`. See GET /api/v1/models for the list.'],
      ['no_such_model', { model: 'm' }, 'Unknown model `m`. See GET /api/v1/models for the list.'],
      ['retired_model', { model: 'm' }, 'Model `m` is retired.'],
      ['cannot_edit', { model: 'm' }, 'Model `m` makes images but does not edit them.'],
      ['invalid_json', {}, 'The request body is not valid JSON.'],
      ['invalid_form', {}, 'The request body is not valid form data.'],
      ['not_found', {}, 'There is nothing at this path. See GET /openapi.json for the endpoints.'],
      [
        'never_topped_up',
        { minimumRub: '1000.00' },
        'The wallet has never been topped up. The minimum first top-up is 1000.00 RUB.',
      ],
      [
        'key_budget',
        { field: 'bot', priceRub: '5.00', budgetRub: '7.00' },
        'The budget of the key "bot" does not cover this call, which costs 5.00 RUB. ' +
          'The budget is 7.00 RUB in total and does not reset.',
      ],
      [
        'idempotency_done',
        { charge: 'req_1' },
        'A call with this idempotency key has been charged as req_1, and its reply was not kept.',
      ],
    ];
    for (const [code, detail, message] of rows) expect(fault(code, detail).message, code).to.equal(message);
  });

  it('promise that nothing was charged only if that is certain', () => {
    const messageOf = (detail: FaultDetail) => fault('store_unavailable', detail).message;
    expect(messageOf({})).to.equal('The service is temporarily unavailable. Nothing was charged.');
    expect(messageOf({ unconfirmed: true })).to.equal(
      'The service is temporarily unavailable. Anything reserved for this call will be returned automatically.',
    );
  });

  it('are distinguished from other errors', () => {
    expect(isFault(fault('internal'))).to.equal(true);
    const others = [
      badRequest('no'),
      badRequest('no', {}),
      new Boom('no', { data: null }),
      new Error('no'),
      null,
      'no',
    ];
    for (const other of others) expect(isFault(other)).to.equal(false);
  });

  it('are made from any thrown value', () => {
    const made = fault('not_found');
    expect(toFault(made)).to.equal(made);
    for (const thrown of [new Error('no'), badRequest('no'), 'no', null, Symbol('no')]) {
      const ours = toFault(thrown);
      expect([ours.data?.code, ours.output.statusCode, ours.cause]).to.deep.equal(['internal', 500, thrown]);
    }
    expect(toFault(undefined).data?.code).to.equal('internal');
  });

  it('have a stack that starts at their creation', () => {
    function makeOne() {
      return fault('internal');
    }
    expect(makeOne().stack?.split('\n')[1]).to.contain('makeOne');
  });
});
