// The pages as a hapi plugin: their own routes and response style, without API keys.
import type { Plugin } from '@hapi/hapi';
import { addRoutesLate } from '../http/late-routes.ts';
import { frontDoor } from './front-door.ts';
import type { PageRoutes } from './page.ts';
import { act, adminAct } from './pages/act.ts';
import { adminAccount } from './pages/admin-account.ts';
import { adminAccountCalls } from './pages/admin-account-calls.ts';
import { adminAccountPapers } from './pages/admin-account-papers.ts';
import { adminAccounts } from './pages/admin-accounts.ts';
import { adminAlerts } from './pages/admin-alerts.ts';
import { adminAudit } from './pages/admin-audit.ts';
import { adminBank } from './pages/admin-bank.ts';
import { adminCalls } from './pages/admin-calls.ts';
import { adminCatalog } from './pages/admin-catalog.ts';
import { adminChecks } from './pages/admin-checks.ts';
import { adminLedger } from './pages/admin-ledger.ts';
import { adminModel } from './pages/admin-model.ts';
import { adminOverview } from './pages/admin-overview.ts';
import { adminPapers } from './pages/admin-papers.ts';
import { adminPayment } from './pages/admin-payment.ts';
import { adminPayments, adminPaymentsCsv } from './pages/admin-payments.ts';
import { adminPeople } from './pages/admin-people.ts';
import { adminPerson } from './pages/admin-person.ts';
import { adminPromo } from './pages/admin-promo.ts';
import { adminTransfers, adminTransfersCsv } from './pages/admin-transfers.ts';
import { adminUpstream } from './pages/admin-upstream.ts';
import { adminUpstreamModels } from './pages/admin-upstream-models.ts';
import { adminUpstreams } from './pages/admin-upstreams.ts';
import { adminWebhook, adminWebhooks } from './pages/admin-webhooks.ts';
import { alerts } from './pages/alerts.ts';
import { call } from './pages/call.ts';
import { calls, callsCsv } from './pages/calls.ts';
import { connect } from './pages/connect.ts';
import { adminInvoice, invoice } from './pages/invoice.ts';
import { join } from './pages/join.ts';
import { keyLimits, rotateKey } from './pages/key-limits.ts';
import { keyUsers } from './pages/key-users.ts';
import { keys, revokeKey } from './pages/keys.ts';
import { login, logout } from './pages/login.ts';
import { adminManagementKey, adminManagementKeys, managementKey, managementKeys } from './pages/management-keys.ts';
import { handOver, leave, member, removeMember } from './pages/member.ts';
import { models } from './pages/models.ts';
import { overview } from './pages/overview.ts';
import { papers } from './pages/papers.ts';
import { paymentsCsv } from './pages/payments.ts';
import { invitation, people } from './pages/people.ts';
import { playground, playgroundText, playgroundVideo } from './pages/playground.ts';
import { adminRefusedRequests, refusedRequests } from './pages/refused-requests.ts';
import { register } from './pages/register.ts';
import { exportData, settings } from './pages/settings.ts';
import { reset, setup } from './pages/setup.ts';
import { statement, statementCsv } from './pages/statement.ts';
import { status } from './pages/status.ts';
import { usage } from './pages/usage.ts';
import { usageCsv } from './pages/usage-csv.ts';
import { wallet } from './pages/wallet.ts';
import { paymentRoutes } from './payment-routes.ts';
import { isPagePath } from './response-style.ts';
import type { ConsoleServices } from './services.ts';
import { staticFiles } from './static-files.ts';
import { receipt } from './wallet/order.ts';

/** Every page must be listed here. */
export const PAGES: readonly PageRoutes[] = [
  login,
  logout,
  setup,
  reset,
  register,
  join,
  status,
  overview,
  connect,
  keys,
  keyLimits,
  rotateKey,
  revokeKey,
  managementKeys,
  managementKey,
  keyUsers,
  wallet,
  receipt,
  statement,
  statementCsv,
  paymentsCsv,
  papers,
  invoice,
  act,
  usage,
  usageCsv,
  calls,
  callsCsv,
  refusedRequests,
  call,
  models,
  playground,
  playgroundText,
  playgroundVideo,
  people,
  invitation,
  member,
  removeMember,
  handOver,
  leave,
  settings,
  exportData,
  alerts,
  adminOverview,
  adminAccounts,
  adminAccount,
  adminAccountCalls,
  adminRefusedRequests,
  adminAccountPapers,
  adminAct,
  adminCalls,
  adminPeople,
  adminPerson,
  adminPayments,
  adminPaymentsCsv,
  adminTransfers,
  adminTransfersCsv,
  adminPayment,
  adminLedger,
  adminCatalog,
  adminModel,
  adminUpstreams,
  adminUpstream,
  adminUpstreamModels,
  adminWebhooks,
  adminWebhook,
  adminManagementKeys,
  adminManagementKey,
  adminAlerts,
  adminAudit,
  adminChecks,
  adminPromo,
  adminPapers,
  adminInvoice,
  adminBank,
];

export const consolePlugin: Plugin<ConsoleServices> = {
  name: 'web',
  register(server, services) {
    server.route([...paymentRoutes(services), staticFiles, frontDoor]);
    addRoutesLate(server, isPagePath, () => PAGES.flatMap((routes) => routes(services)));
  },
};
