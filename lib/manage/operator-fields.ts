// What owners never see of calls.

/** What calls cost and where they ran, what operators call the prices of an account, and files of the machine. */
export const OPERATOR_FIELDS: readonly string[] = ['attempts', 'price_list', 'upstream', 'archived'];
