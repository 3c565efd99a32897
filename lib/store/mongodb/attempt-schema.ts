// The collection of attempts at upstreams in the MongoDB store. (`attempts` has failed sign-ins.)
import { ATTEMPT_ENDINGS, CERTAINTIES } from '../../money/attempt.ts';
import { type CollectionSchema, isAmount, isText, isTime } from './fields.ts';

const isTextOrNull = { $type: ['string', 'null'] };
const isCountOrNull = { $type: ['number', 'null'], $not: { $lt: 0 } };

export const CALL_ATTEMPTS_COLLECTION: CollectionSchema = {
  name: 'call_attempts',
  validator: {
    charge: isText,
    number: { $type: 'number', $gte: 1 },
    wallet: isText,
    last: { $type: 'bool' },
    model: isText,
    upstream: isTextOrNull,
    upstreamModel: isTextOrNull,
    keyPlace: isCountOrNull,
    requestId: isTextOrNull,
    at: isTime,
    ending: { $in: [...ATTEMPT_ENDINGS] },
    firstMs: isCountOrNull,
    totalMs: isTime,
    usage: isTextOrNull,
    certainty: { $in: [...CERTAINTIES] },
    $or: [
      { cost: { $type: 'null' } },
      {
        'cost.currency': isText,
        'cost.prices': isText,
        'cost.rate': { $type: 'long', $gt: 0 },
        'cost.cost': isAmount,
        'cost.costRub': isAmount,
      },
    ],
    mark: isText,
  },
  indexes: [
    { key: { charge: 1, number: 1 }, name: 'of_call' },
    { key: { at: 1, _id: 1 }, name: 'by_time' },
  ],
};
