// The store contract on SQLite files.
import { storeContract } from '../contract/store/contract.ts';
import { SQLITE } from '../helpers/stores.ts';

storeContract(SQLITE);
