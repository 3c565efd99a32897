// What vendors say in refusals, by what it is about: each row is one way to say it.
import type { RefusalCause } from '../contract/fault.ts';

export const MONEY = joinRows(
  /insufficient[_ -]?(balance|quota|credit|fund)/,
  /credit balance/,
  /(not (have )?enough|out of|used all|add|more) (available )?credits/,
  /exceeded your current quota/,
  /not enough (balance|funds)/,
  /balance is (insufficient|not enough|too low|negative)/,
  /have any credits/,
  /out of call volume quota/,
  /недостаточно средств/,
  /spending limit/,
  /extra usage/,
  /usage limits?/,
  /billing/,
  /arrears/,
  /overdue/,
  /in good standing/,
  /recharge/,
  /top[ _]up/,
  /\bkey limit exceeded/,
  /余额/,
  /欠费/,
  /充值/,
  /额度(不足|已)/,
);
/** Some report an empty balance, or a plan that is used up for hours, as a rate limit: only the text tells them apart. */
export const SPENT = joinRows(
  /credits?( balance)? (is|are|has been|have been) (depleted|exhausted|used up)/,
  /\busage limit (exceeded|reached)/,
  /reached (your|its|the)\b.{0,30}\busage limit/,
);
/** Others report a rate of tokens as a quota that is used up. */
export const ALLOCATED = /(?<!free )allocated quota exceeded/i;
export const KEY = joinRows(
  /(api[ _-]?key|access token|credential).{0,60}(invalid|incorrect|not valid|expired|missing|disabled)/,
  /(invalid|incorrect|expired|missing).{0,20}(api[ _-]?key|access token)/,
  /not match .{0,20}service account/,
  /location is not supported/,
  /\borganization must be verified\b/,
);
export const NO_MODEL = joinRows(
  /(model|deployment|endpoint)\b.{0,120}(not found|not exist|not available|no longer available|not supported|deprecated|decommissioned)/,
  /(unknown|unsupported|no such) model\b/,
  /not a valid model\b/,
  /(not supported|deprecated) (for|with|by|in|on) (this|the) (model|endpoint)/,
  /does not support .{1,60} (for|with) this model/,
  /does not support (the )?([\w'`-]+ )?parameter\b/,
  /parameter does not support/,
  /does not support this tool_choice/,
  /response_format type is unavailable/,
  /only .{1,20} is allowed for this model/,
  /only works in thinking mode/,
  /is not enabled for (this model|models\/)/,
  /system role not supported/,
  /is only supported in/,
  /please use \/v1\//,
  /supported api model names/,
  /not a multimodal model/,
  /api version not supported/,
  /invalid model name/,
  /un(recognized|supported) (request argument|param(eter)?\b)/,
  /unknown field: parameter/,
  /unknown name "\w+": cannot find field/,
  /\bproperty\b.{0,60}\bis unsupported/,
  /does not support (tools|thinking|output format)/,
  /--enable-auto-tool-choice/,
  /\bparam requires --jinja\b/,
  /\b(image|audio) input is not supported\b/,
  /extra inputs are not permitted/,
  /(invalid|failed to parse) model[_ ]uri/,
  /no endpoints found/,
  /^not found$/,
  /page not found/,
  /request (was sent )?to (an )?https (port|server)/,
  /cannot post/,
  /invalid url/,
  // More inputs of an embedding than `inputsMax` should let through.
  /too many inputs\b/,
  /\bbatch size\b.{0,30}(\binvalid\b|> maximum)/,
  /at most \d+ requests can be in one batch/,
  /模型不存在/,
);

/** Part of the request that says nothing without what was kept of it: not the model, which the same status may mean. */
export const NO_ITEM = /\bitem with id\b.{1,200}\bnot found\b/i;

/** A passing state, which some report as a bad request. */
export const TOO_FAST = joinRows(
  /\brate limit\w* (was |has been )?(exceeded|reached|hit)/,
  /too many (concurrent )?requests/,
);
export const TOO_BUSY = joinRows(/\b(server|system|service|model) (is )?(currently )?(busy|overloaded)/, /负载/);
/** Another service behind this one has failed, and no reason is given: also reported as a bad request. */
export const FAILED_BEHIND = joinRows(
  /\bupstream (request|service|server|provider)( has)? (failed|is unavailable|timed out)\W*$/,
  /^(the )?model (has )?(crashed|unloaded)\b/,
);

/** Texts of refusals that tell what the client can fix. */
export const CAUSES: readonly (readonly [about: RefusalCause, text: RegExp])[] = [
  [
    'content',
    joinRows(
      /\b(was|been) flagged/,
      /content ((management |security )?polic|moderation|filter)/,
      /\bviolat\w+ .{0,40}\b(polic(y|ies)|guidelines?|guardrails?|responsible ai)\b/,
      /safety (system|filter|check|polic|guideline|violation|reason)/,
      /may violate\b.{0,40}\bterms\b/,
      /(request|content) moderated\b/,
      /moderation system/,
      /(not|n't) pass moderation/,
      /\bnsfw (content|material|image)/,
      /prohibited[ _]content/,
      /(sensitive|unsafe) (information|words?|content)/,
      /inappropriate content/,
      /copyright restriction/,
      /contain real person/,
      /content exists risk/,
      /considered high risk/,
      /content\b.{0,60}\bis blocked/,
      /违规/,
      /不合规/,
      /敏感/,
      /不当内容/,
    ),
  ],
  [
    'image',
    joinRows(
      /(could not|unable to|cannot|can't|failed to) (process|decode|read|parse|load|open|download|fetch)\b.{0,40}\bimage/,
      /\bimage\b.{0,60}\b(invalid|corrupt|unreadable|not (a )?valid)/,
      /(represent|loaded as) a valid image/,
      /cannot identify image/,
      /\bloading image data\b/,
      /\bimage file is truncated\b/,
      /image format is (illegal|not supported)/,
      /(invalid|corrupt(ed)?)\b.{0,30}\bimage/,
      /unsupported image\b/,
      /unsupported mime ?type\W{1,4}image\//,
      /\breceived image with\b/,
      /image (\([^)]{1,20}\) )?(length|dimensions|exceeds|must match|does not match|(size |file )?is too (large|small))/,
      /图片.{0,12}(错误|超过限制)/,
    ),
  ],
  [
    'length',
    joinRows(
      /context (length|window|size)/,
      /too[ _]long\b/,
      /too many (input |prompt )?tokens/,
      /maximum (context|model length|number of tokens|prompt length|allowed (input length|number of output tokens))/,
      /reduce the (length|input token count)/,
      /\bmax_(new_|completion_|output_|prompt_)?tokens\b.{0,80}(exceed|too (large|high)|greater|at most|must be (<|less))/,
      /\b(tokens?|prompts?|inputs?|messages?)\b.{0,60}\bexceed/,
      /\bexceed\w*\b.{0,30}\b(token limit|max_prompt_tokens|maximum size)/,
      /range of (max_tokens|input length)/,
      /less than (\d+ tokens|max_seq_len)/,
      /\brequest (too large|payload size exceeds)/,
      /\bmax \d+ tokens per request/,
      /\btoo large to process\b/,
      /\btoo big compared to kv size/,
      /слишком длинн/,
      /上下文长度/,
      /长度超/,
      /超长/,
      /token\s?数?超/,
    ),
  ],
];

/** Local servers call what is too long for them a failure of their own. */
export const TOO_LONG_AT_500 = joinRows(
  /\binput\b.{0,20} is too large to process\b/,
  /\btoo big compared to kv size/,
  /context (length|window|size)\b.{0,40}\bexceed/,
  /\bexceed\w*\b.{0,40}\bcontext (length|window|size)/,
);

/** They do so, too, with what they cannot do at all. */
export const UNABLE_AT_500 = joinRows(
  /\bparam requires --jinja\b/,
  /\b(image|audio) input is not supported\b/,
  /\bunsupported param\b/,
  /system role not supported/,
);
/** And with a conversation that the template of the model refuses, or a schema or picture that they cannot read. */
export const REFUSED_AT_500 = joinRows(
  /\bloading (image|audio|video|multimodal) data\b/,
  /cannot identify image/,
  /\braise_exception\(/,
  /\bconversation roles must alternate\b/,
  /\bjson schema conversion failed\b/,
);

const LONG_FIELD = /\binvalid '([^']+)': \w+ too long\b|\btoo long - '([^']+)'|'\$\.([^']+)' is too long\b/i;
const PROMPT_FIELD = /\b(messages|input|prompt|content|text|instructions|system|output|arguments)\W*\d*\W*$/i;

/** Whether a refusal for length is about the tools, an id or a name: with a shorter prompt it would come again. */
export function isOtherTooLong(text: string): boolean {
  const field = LONG_FIELD.exec(text)
    ?.slice(1)
    .find((path) => path !== undefined);
  return field !== undefined && !PROMPT_FIELD.test(field);
}

/** Texts that tell a 403 for what was sent from one for who sent it. */
export const MODERATED = joinRows(
  /\b(moderat(ed|ion)|flagged|inappropriate|nsfw|unsafe|prohibited[ _]content)\b/,
  /\b(content|usage|safety|community|acceptable use) (polic|guideline|filter|rule)/,
);
export const BANNED =
  /\b(account|organi[sz]ation|project|workspace|resource|api key)( \S+)? (is|was|has been|have been)\b.{0,20}\b(flagged|suspended|disabled|banned|blocked|restricted|deactivated|terminated)/i;

/** One expression, in any case, for rows without flags. */
function joinRows(...rows: readonly RegExp[]): RegExp {
  return new RegExp(rows.map(({ source }) => source).join('|'), 'i');
}
