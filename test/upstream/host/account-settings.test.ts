import { expect } from 'chai';
import Joi from 'joi';
import { createAccountSchema, describeSchema } from '../../../lib/upstream/host/account-settings.ts';

describe('settings of an account', () => {
  it('are asked of a plugin once, and described once', () => {
    let asked = 0;
    const plugin = {
      settings: () => {
        asked += 1;
        return Joi.object({ region: Joi.string() });
      },
    };
    const schema = createAccountSchema(plugin);
    expect([createAccountSchema(plugin) === schema, asked]).to.deep.equal([true, 1]);
    const description = describeSchema(schema);
    expect(Object.keys(description.keys)).to.deep.equal(['region']);
    expect(describeSchema(schema)).to.equal(description);
  });

  it('differ from plugin to plugin', () => {
    const [one, other] = ['a', 'b'].map((name) =>
      createAccountSchema({ settings: () => Joi.object({ [name]: Joi.string() }) }),
    );
    expect(one).not.to.equal(other);
  });
});
