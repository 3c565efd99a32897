// The names of the formats, by which a state or a citation says whose it is.

/** The state of reasoning is a JSON list of details, as they came; that of a call the JSON of its fields. */
export const CHAT_FORMAT = 'chat';

/** A state is a signature. */
export const CONTENTS_FORMAT = 'contents';

/** A state is a signature, or redacted data. */
export const MESSAGES_FORMAT = 'messages';

/** A state is the JSON of an item. */
export const RESPONSES_FORMAT = 'responses';

/** A state is one that only the upstream's own plugin reads. */
export const PLUGIN_FORMAT = 'plugin';
