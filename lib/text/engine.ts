// The text engine both dialects share: hold, ask upstream, settle. Whatever ends a call, its hold ends once.
import type { Catalog } from '../catalog/catalog.ts';
import { type Fault, fault, refundedFault, toFault } from '../faults.ts';
import type { Ledger, Settlement } from '../ledger/ledger.ts';
import { type TextPrice, type Tokens, textCost, textReserve } from '../ledger/price.ts';
import { isOperatorAlert, isUpstreamFault } from '../plugin/fault.ts';
import { createMeter } from '../stream/meter.ts';
import { attempt, type Ending, endingOfAbort } from './attempt.ts';
import type { CallContext, CallLog, HeldCall, TextTimeouts } from './call.ts';
import { chooseModel } from './choice.ts';
import { createDelivery, type TextOutput } from './delivery.ts';
import { countBufferedInput, estimateInput } from './estimate.ts';
import type { TextRequest } from './request.ts';

export interface TextEngineOptions {
  /** The catalog in force now. */
  readonly catalog: () => Catalog;
  readonly ledger: Ledger;
  readonly timeouts: TextTimeouts;
  /** Told how each attempt at a route ended. */
  readonly onAttempt?: ((upstream: string, ending: Ending) => void) | undefined;
}

export interface TextEngine {
  /**
   * Runs one call to its end, its money included. Rejects with a fault when it fails before the output is opened, or
   * later when the output is not live; on a live output a later failure is an `error` part.
   */
  run(request: TextRequest, context: CallContext, output: TextOutput): Promise<void>;
}

export function createTextEngine({ catalog, ledger, timeouts, onAttempt }: TextEngineOptions): TextEngine {
  async function open(request: TextRequest, context: CallContext, output: TextOutput): Promise<HeldCall> {
    const { model, smart } = chooseModel(catalog(), request);
    context.log.note({ model: model.id, ...(smart && { smart_tier: smart.tier, smart_score: smart.score }) });
    const { price } = model;
    const estimate = request.input ?? estimateInput(request);
    const buffered = model.delivery === 'buffered';
    context.signal.throwIfAborted();
    const hold = await ledger.hold({
      chargeId: context.requestId,
      wallet: context.accountId,
      key: context.keyId,
      kind: 'text',
      model: model.id,
      prices: model.prices,
      amount: textReserve(price, { input: estimate.tokens, maxTokens: request.maxTokens }),
      waitedMs: context.waitedMs ?? 0,
    });
    const meter = createMeter({
      trusted: !buffered,
      inputEstimate: buffered ? countBufferedInput(request) : estimate.tokens,
      inputMax: estimate.tokensMax,
      outputMax: buffered ? Number.POSITIVE_INFINITY : request.maxTokens,
    });
    const delivery = createDelivery(output, {
      replyId: context.requestId,
      model: model.id,
      smart,
      buffered,
      inputTokens: meter.inputSoFar,
      onBegin: context.onFirst,
    });
    return { request, model, smart, context, hold, meter, delivery, timeouts, onAttempt };
  }

  /** Ends the money of a call by how the call ended. */
  async function pay(call: HeldCall, ended: Ended): Promise<Paid> {
    const { hold, meter, model } = call;
    const price = model.price;
    const nothing: Tokens = { input: 0, output: 0 };
    if (!ended.owed) return { ...(await ledger.release(hold)), bill: nothing, price };
    const bill = meter.bill(ended.ending.type === 'finish' ? 'finished' : 'cut');
    const { doubt } = bill;
    if (doubt) {
      call.context.log.warn({ doubt }, 'the usage of an upstream is not believed');
      call.context.log.note({ doubt });
    }
    const used = { amount: textCost(price, bill), tokensInput: bill.input, tokensOutput: bill.output };
    return { ...(await ledger.settle(hold, used)), bill, price };
  }

  return {
    async run(request, context, output) {
      const call = await open(request, context, output);
      const ended = await answer(call, output);
      // When many leave at once, the upstreams of all are closed before the first of them is billed.
      if (ended.ending.type === 'gone') await twoTurns();
      const paid = await pay(call, ended);
      context.log.note(describe(ended, paid));
      finish(call, output, { ended, paid });
    },
  };
}

/** Of the event loop: who leaves at the same moment is seen to leave in one turn, or in the next. */
const twoTurns = () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));

interface Ended {
  readonly ending: Ending;
  /** True when the call is charged; otherwise the hold goes back in full. */
  readonly owed: boolean;
}

interface Paid extends Settlement {
  readonly bill: Tokens;
  readonly price: TextPrice;
}

/** Runs the upstream's part of a held call; never rejects. */
async function answer(call: HeldCall, output: TextOutput): Promise<Ended> {
  const { context, delivery } = call;
  let asked = false;
  let ending: Ending;
  try {
    output.open();
    ending = await askRoutes(call, () => {
      asked = true;
    });
    if (ending.type === 'finish') delivery.flush();
  } catch (error) {
    ending = context.signal.aborted ? endingOfAbort(context.signal) : { type: 'error', fault: toFault(error) };
  }
  const delivered = output.live && delivery.begun;
  return { ending, owed: ending.type === 'finish' || delivered || (ending.type === 'gone' && asked) };
}

/** Asks the routes in order; the next one only while nothing of an answer has come and the client is there. */
async function askRoutes(call: HeldCall, onAsk: () => void): Promise<Ending> {
  const { context, model, meter, timeouts } = call;
  if (call.request.images > 0) return { type: 'error', fault: fault('vision_unavailable') };
  const totalDeadline = performance.now() + timeouts.totalTimeoutMs;
  let last: Ending | undefined;
  for (const route of model.routes) {
    if (context.signal.aborted) return endingOfAbort(context.signal);
    onAsk();
    // Each attempt counts its heartbeats anew: between two of them there would be too long a silence.
    if (last) call.delivery.keepAlive();
    last = await attempt(call, route, totalDeadline);
    call.onAttempt?.(route.upstream, last);
    if (last.type !== 'error') return last;
    report(context.log, route.upstream, last.fault);
    // Another route cannot help a request that is refused for what it says.
    if (meter.hasText || last.fault.data?.code === 'upstream_refused' || performance.now() >= totalDeadline) break;
  }
  return last ?? { type: 'error', fault: fault('upstream_failed') };
}

/** What failed upstream, for the operator; what only they can mend is an alert. */
function report(log: CallLog, upstream: string, reason: Fault): void {
  const { cause } = reason;
  if (isUpstreamFault(cause) && isOperatorAlert(cause.kind)) {
    log.error({ alert: 'upstream', upstream, err: cause }, 'an upstream refuses our key or our account there');
  } else log.warn({ upstream, err: cause ?? reason }, 'a route failed');
}

function finish(call: HeldCall, output: TextOutput, { ended, paid }: { ended: Ended; paid: Paid }): void {
  const { ending, owed } = ended;
  if (ending.type === 'gone') return;
  if (ending.type === 'finish') call.delivery.complete(ending.part, paid.bill, paid);
  else {
    const reason = owed ? ending.fault : refundedFault(ending.fault);
    if (!output.live) throw reason;
    output.write([{ type: 'error', fault: reason }]);
  }
  output.end();
}

function describe({ ending }: Ended, { charged, bill }: Paid): object {
  const tokens = { tokens_input: bill.input, tokens_output: bill.output };
  const failure = ending.type === 'error' && { fault: ending.fault.data?.code };
  return { ending: ending.type, charged_micro: `${charged}`, ...tokens, ...failure };
}
