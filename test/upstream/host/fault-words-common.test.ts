// Codes and sentences that mean the same with every upstream, whatever the status of a mere refusal.
import { expect } from 'chai';
import { createHostFault } from '../../../lib/upstream/host/host-fault.ts';

type Meanings = Readonly<Record<string, string>>;

/** In a complaint without a status, where an unknown code would be a failure of the server. */
const CODES: Meanings = {
  quota: `insufficient_quota insufficient_user_quota insufficient_balance insufficient_balance_error
    insufficient_credits billing_error billing_not_active billing_hard_limit_reached exceeded_current_quota_error
    quota_exceeded payment_required not_enough_balance Arrearage OverduePayment AccountOverdueError
    AllocationQuota.FreeTierOnly pre_consume_token_quota_failed budget_exceeded`,
  missing: `model_not_found model_not_exist model_not_available ModelNotFound unsupported_model unavailable_model DeploymentNotFound
    InvalidEndpointOrModel.NotFound resource_not_found_error invalid_model unsupported_parameter unknown_parameter
    not_found not_found_error NotFoundError`,
  auth: `invalid_api_key invalid_iam_token invalid_authentication_error incorrect_api_key_error authentication_error
    authentication_failed failed_to_auth unauthorized UNAUTHENTICATED permission_error PERMISSION_DENIED
    permission_denied_error access_denied access_deny access_terminated_error account_deactivated`,
  rate: `rate_limit_exceeded rate_limit_error rate_limit_reached_error rate_limited rate_limit too_many_requests
    RESOURCE_EXHAUSTED Throttling Throttling.RateQuota Throttling.AllocationQuota ThrottlingException throttled
    limit_requests tokens_per_minute token_limit_exceeded requests tokens`,
  overloaded: `overloaded overloaded_error server_overloaded server_is_overloaded engine_overloaded
    engine_overloaded_error model_overloaded service_unavailable service_unavailable_error
    ServiceUnavailableException service_not_available UNAVAILABLE capacity_exceeded ServerOverloaded
    provider_overloaded insufficient_system_resource no_available_channel model_not_ready unavailable_error slow_down`,
  timeout: 'timeout timeout_error request_timeout gateway_timeout DEADLINE_EXCEEDED',
  'request/length':
    'context_length_exceeded exceed_context_size_error request_too_large string_above_max_length max_tokens_per_request',
  'request/content': `content_filter content_filter_error content_policy_violation image_content_policy_violation
    moderation moderation_blocked data_inspection_failed DataInspectionFailed ResponsibleAIPolicyViolation
    cyber_policy bio_policy misalignment_policy_violation censorship_blocked new_sensitive`,
  'request/image': `invalid_image invalid_image_format invalid_base64_image invalid_image_url invalid_image_mode
    image_parse_error image_too_large image_too_small image_file_too_large unsupported_image_media_type
    empty_image_file failed_to_download_image invalid_image_file unsupported_file_mimetype`,
  request: `invalid_request_error INVALID_ARGUMENT InvalidParameter bad_request bad_request_error BadRequestError
    validation_error validation ValidationException invalid_value`,
};

/** In a plain refusal, a line each. */
const SENTENCES: Meanings = {
  quota: `Insufficient Balance
    Insufficient funds
    Your credit balance is too low
    You are not enough credits away
    You are out of credits
    Your team has used all available credits
    Please add credits to continue
    This needs more credits
    You exceeded your current quota
    Monthly spending limit reached
    You have reached your specified API usage limits
    Billing is not set up
    The account is in arrears
    The payment is overdue
    Your account is not in good standing
    Please recharge
    User is locked. Reason: TOP_UP
    You're out of extra usage. Add more and keep going
    Your organization has reached its monthly usage limit
    Your prepayment credits are depleted
    There is not enough balance
    Sorry, your account balance is insufficient
    Your newly created team doesn't have any credits or licenses yet
    Out of call volume quota for CognitiveServices.S0
    Недостаточно средств на балансе
    账户余额不足
    账户已欠费
    请充值`,
  auth: `The API key is not valid
    This api-key has expired
    The access token is missing
    The credential was disabled
    Incorrect API key provided
    Invalid access token
    Missing API key
    Folder x does not match with service account folder y
    User location is not supported for the API use
    This organization has been disabled
    Your resource has been temporarily blocked because we detected behavior that may violate our content policy`,
  missing: `The model was not found
    The deployment does not exist
    The model is not available
    The model is no longer available
    This endpoint is not supported
    This model is deprecated
    The model was decommissioned
    Unknown model
    Unsupported model
    No such model
    Invalid model_uri
    Failed to parse model URI
    No endpoints found
    Not found
    404 page not found
    Cannot POST /v1
    Invalid URL
    x/y is not a valid model ID
    Unsupported parameter: 'max_tokens' is not supported with this model
    \`temperature\` is deprecated for this model
    Unrecognized request argument supplied: reasoning_effort
    property 'reasoning_effort' is unsupported
    tools.0.custom.strict: Extra inputs are not permitted
    gemma does not support tools
    "gemma" does not support thinking
    Argument not supported on this model: presencePenalty
    Model grok-3 does not support parameter reasoningEffort.
    The tool_choice parameter does not support being set to required or object in thinking mode
    The parameters stop specified in the request are not supported by this endpoint
    The supported API model names are deepseek-flash, but you passed deepseek-chat
    x is not a multimodal model
    API version not supported
    Invalid model name passed in model=x
    This model does not support the effort parameter.
    deepseek-reasoner does not support this tool_choice
    This response_format type is unavailable now
    invalid temperature: only 1 is allowed for this model
    Budget 0 is invalid. This model only works in thinking mode.
    Function calling is not enabled for this model
    System role not supported
    This model is only supported in v1/responses and not in v1/chat/completions.
    Function tools with reasoning_effort are not supported for gpt-6. Please use /v1/responses instead.
    'claude-x' does not support output format.
    Unsupported param: tools
    unknown field: parameter stream_options is not a valid field
    Invalid JSON payload received. Unknown name "prompt_cache_key": Cannot find field.
    The plain HTTP request was sent to HTTPS port
    Client sent an HTTP request to an HTTPS server.
    Too many inputs in request, split into more batches.
    Value error, batch size is invalid, it should not be larger than 10.: input.contents
    input batch size 473 > maximum allowed batch size 64
    BatchEmbedContentsRequest.requests: at most 100 requests can be in one batch
    "auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set
    模型不存在`,
  rate: `Rate limit exceeded, please try again later
    Rate limit was reached
    Too many concurrent requests`,
  overloaded: `Server busy, please try again later
    The model is currently overloaded
    当前分组上游负载已饱和，请稍后再试`,
  server: `Upstream request failed
    Error from provider (Console): Upstream request failed.
    The upstream provider timed out
    Model unloaded.
    The model has crashed without additional information. (Exit code: null)`,
  request: `Upstream request failed: messages.0.role is not known
    The upstream request is malformed`,
  'request/content': `Your input was flagged
    It breaks the content policy
    Rejected by content moderation
    It violates our usage policies
    It violates the community guidelines
    Blocked by the safety filter
    It breaks our safety guidelines
    The text may contain sensitive information
    This request has been flagged for potentially high-risk cyber activity
    Output blocked by content filtering policy
    The prompt triggers the content management policy
    Access to this content is limited for safety reasons
    Output data may contain inappropriate content
    Content Exists Risk
    The request was rejected because it was considered high risk
    The content you provided or machine outputted is blocked
    It triggered the content security policy of the platform
    The prompt could not be submitted. It contains sensitive words
    The input image violates the vendor's usage guidelines
    All images were filtered out because they violated our guidelines
    The response is blocked, as it may violate our policies
    It may violate our guardrails around violence
    It violates the vendor's Responsible AI practices
    Request blocked due to safety violations
    Blocked because of safety reasons
    Blocked by our moderation system
    Prompt or provided image failed the safety checks
    Request Moderated
    Content Moderated
    It is not possible to generate an image from this request because it may violate the terms of use
    The text did not pass moderation
    The text didn't pass moderation
    The prompt has NSFW material
    It may be unsafe content
    The output image may be related to copyright restrictions
    The input image may contain real person
    内容违规
    输入内容不合规
    敏感内容`,
  'request/image': `Could not process the image
    Unable to read this image
    Failed to download an image
    The image is invalid
    The image seems to be corrupt
    Corrupted image
    Unsupported image format
    Unsupported image media
    You uploaded an unsupported image. Use another format
    Image does not match the provided media type image/png
    The image length and width do not meet the model restrictions
    The image dimensions are wrong
    The image exceeds 5 MB
    The image must match the mask
    The image is too large
    The image is too small
    Image size is too small
    The image file is too large
    The size of the input image (230 MB) exceeds the limit
    The image format is illegal and cannot be opened
    Invalid file 'image': unsupported mimetype ('image/gif')
    Unsupported MIME type: image/gif
    expected the aspect ratio to be between 0.33 and 3.00, but received image with aspect ratio: 3.45 instead
    cannot identify image file <_io.BytesIO object at 0x7f>
    image file is truncated (3 bytes not processed)
    图片输入格式/解析错误
    输入图片数量超过限制
    Image, 'data:image/png', could not be loaded as a valid image`,
  'request/length': `It exceeds the context window
    It exceeds the context size
    The prompt is too long
    Слишком длинный запрос: 121692 токенов входа при пределе 46112
    Too many input tokens
    Too many tokens
    The maximum context is 8192
    The maximum number of tokens is 8192
    Please reduce the length
    max_tokens is too large
    max_tokens must be at most 4096
    max_tokens is greater than 4096
    max_tokens is too high
    max_tokens exceeds the limit
    This model's maximum prompt length is 131072 but the request contains 537812
    Input length 300000 exceeds the maximum allowed input length of 262000
    The prompt token count of 135000 exceeds the limit of 128000
    Your request exceeded model token limit: 262144 (requested: 300000)
    max_tokens: 65536 > 32000, which is the maximum allowed number of output tokens
    Invalid max_tokens value, the valid range of max_tokens is [1, 8192]
    Range of input length should be [1, 98304]
    \`max_tokens\` must be less than or equal to 8192
    \`inputs\` tokens + \`max_new_tokens\` must be <= 4096
    \`inputs\` must have less than 4095 tokens
    Number of input tokens (150000) has exceeded max_prompt_tokens
    Total message token length exceed model limit
    Prompt exceeds max length
    Request exceeds the maximum size
    Request too large for model x on tokens per min (TPM): Limit 6000
    Request payload size exceeds the limit: 20971520 bytes.
    The decoder prompt (length 9000) is longer than the maximum model length of 8192.
    Requested 673477 tokens, max 300000 tokens per request
    Too many tokens overall, split into more batches.
    input (681 tokens) is too large to process. increase the physical batch size (current batch size: 512)
    Input prompt is too big compared to KV size. Please try increasing KV size.
    message_too_long
    token数超过限制
    Prompt 超长
    length of prompt_tokens (33210) must be less than max_seq_len (32768)
    输入长度超过模型最大上下文长度`,
};

const linesOf = (text: string, border: RegExp) => text.trim().split(border);
const named = ({ kind, about }: { kind: string; about?: string }) => (about === undefined ? kind : `${kind}/${about}`);

describe('faults by what means the same everywhere', () => {
  const fault = createHostFault({ secrets: [] });

  for (const [meaning, codes] of Object.entries(CODES)) {
    it(`have codes that mean ${meaning}`, () => {
      for (const code of linesOf(codes, /\s+/)) {
        const told = fault.ofComplaint({ error: { message: 'no comment', code } }, true);
        expect(named(told), code).to.equal(meaning);
      }
    });
  }

  for (const [meaning, sentences] of Object.entries(SENTENCES)) {
    it(`have sentences that mean ${meaning}`, () => {
      for (const message of linesOf(sentences, /\s*\n\s*/)) {
        const told = fault.ofReply(400, {}, JSON.stringify({ error: { message } }));
        expect(named(told), message).to.equal(meaning);
      }
    });
  }
});
