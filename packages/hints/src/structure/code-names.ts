// Owns the exact names: codes whose words mislead, in lower case without separators and without a
// final "error" or "exception". A second word says whether the same call may work later.

import type { HintCategory } from "@agenttx/model";

type Meaning = HintCategory | `${HintCategory} ${"retry" | "final"}`;

const NAMES: Partial<Record<Meaning, string>> = {
  missing_field:
    "missing valueerror.missing missingfield required fieldrequired keyerror keynotfound presence " +
    "blank notblank notempty notnull isnotempty isdefined notemptyvalidator notnullvalidator null " +
    "any.required required.any string.empty isrequired missingrequiredfield missingproperty " +
    "parametermissing missingparameter missingattribute nonnull empty missingrequiredparameter " +
    "multivaluedictkey missingrequestvalue fieldvaluerequired attributerequired noneisnotallowed " +
    "typeerror.none.notallowed presenceof isnotblank valuemissing dependencies dependentrequired",
  type_mismatch:
    "type typeerror invalidtype inttype stringtype booltype floattype listtype dicttype arraytype " +
    "intparsing floatparsing boolparsing datefromdatetimeparsing datetimeparsing uuidparsing " +
    "typeerror.integer typeerror.float typeerror.str typeerror.list typeerror.dict typeerror.bool " +
    "isnumber isstring isint isboolean isarray isobject number.base string.base boolean.base " +
    "array.base object.base notanumber notaninteger classcast invalidcast isnumeric isdate " +
    "expectedstring modeltype modelattributestype datetype datetimetype inttruefalse intfromfloat " +
    "casterror cast isinstance dateparsing timeparsing bytestype uuidtype decimaltype noninteger " +
    "numbertype timetype settype tupletype typemismatch",
  too_long:
    "stringtoolong toobigstring maxlength valueerror.anystr.maxlength string.max toolong " +
    "maximumlengthvalidator maxlen stringabovemaxlength fieldvaluetoolong lengthmax msgtoolong",
  invalid_value:
    "enum const pattern format minimum maximum exclusiveminimum exclusivemaximum minlength minitems " +
    "maxitems multipleof uniqueitems additionalproperties extraforbidden valueerror.extra " +
    "unrecognizedkeys invalidenumvalue invalidliteral invalidstring invaliddate toosmall toobig " +
    "greaterthan greaterthanequal lessthan lessthanequal literal literalerror value assertion " +
    "stringpatternmismatch stringtooshort tooshort valueerror valueerror.number.notgt notmultipleof " +
    "isemail isurl isuuid matches min max isin isenum ispositive whitelistvalidation minlen invalid " +
    "doesnotexist invalidchoice invalidformat invalidvalue invalidunion custom any.only number.min " +
    "number.max string.email string.pattern.base object.unknown inclusion exclusion length " +
    "greaterthanvalidator emailvalidator emailaddress parameterunknown parameterinvalid " +
    "parameterinvalidempty parameterinvalidinteger unknownparameter unsupportedparameter " +
    "fieldvalueinvalid fieldvaluenotsupported fieldvalueforbidden validationerror invalidkey unset " +
    "valueerror.const type.error.enum errorenum integerbelowminvalue missingtoken userdefined " +
    "invalidformatexception dependentschemas propertynames oneof anyof allof not contains urlparsing",
  unique_violation:
    "unique taken alreadyexists duplicate duplicatekey notunique uniqueviolation " +
    "uniqueconstraint recordnotunique entityalreadyexists fieldvalueduplicate fileexists eexist " +
    "bucketalreadyownedbyyou bucketalreadyexists resourcealreadyexists duplicatevalue " +
    "uniqueconstraintviolation nameconflict",
  authentication_failed:
    "invalidauth notauthed invalidapikey incorrectapikey unauthenticated authentication unauthorized " +
    "expiredtoken invalidtoken tokenexpired jsonwebtoken notlogged accountinactive tokenrevoked " +
    "invalidgrant invalidclient unrecognizedclient invalidclienttokenid signaturedoesnotmatch " +
    "authfailure invalidaccesskeyid nocredentials credentialsprovider missingauthenticationtoken " +
    "expiredtokenexception notauthenticated authenticationfailed invalidcredentials requestexpired",
  permission_denied:
    "accessdenied forbidden permissiondenied permission unauthorizedoperation unauthorizedaccess " +
    "notauthorized insufficientscope missingscope eacces eperm accessdeniedexception notinchannel " +
    "invalidpermissions restrictedaction policyviolation countryunsupported",
  not_found:
    "notfound resourcemissing nosuchkey nosuchbucket nosuchentity enoent filenotfound modelnotfound " +
    "resourcenotfound channelnotfound usernotfound recordnotfound objectdoesnotexist noresultfound " +
    "entitynotfound modulenotfound nosuchfile nosuchelement noresult http404 noroutefound " +
    "objectnotfound notfoundhttp documentnotfound lookup invalidinstanceid.notfound",
  conflict:
    "conflict conditionalcheckfailed preconditionfailed staleobject staledata resourceinuse " +
    "operationaborted optimisticlock failedprecondition transactioncanceled invalidstate versionerror " +
    "dbupdateconcurrency concurrentmodification etagmismatch resourceconflict locked",
  "conflict retry": "aborted transactionconflict idempotencykeyinuse",
  rate_limited:
    "ratelimit ratelimited ratelimitexceeded throttling throttled throttlingexception slowdown " +
    "toomanyrequests requestlimitexceeded provisionedthroughputexceeded limitexceeded eresourceexhausted " +
    "resourceexhausted requeststhrottled userratelimitexceeded ratelimitreached quotaexceeded throttle",
  "rate_limited final": "insufficientquota billinghardlimitreached quotaexhausted",
  timeout:
    "timeout etimedout requesttimeout timeouterror timeoutexception deadlineexceeded readtimeout " +
    "connecttimeout esockettimedout gatewaytimeout asynciotimeout sockettimeout pooltimeout " +
    "maxtimemsexpired requesttimedout aborttimeout taskcanceled operationtimedout",
  unavailable:
    "unavailable serviceunavailable overloaded econnrefused econnreset enotfound eaiagain epipe " +
    "connectionrefused connectionreset brokenpipe connectionaborted connection connectionfailed " +
    "modeloverloaded serviceunavailableexception ehostunreach enetunreach httpconnection newconnection " +
    "connect gaierror emfile enfile eagain noroutetohost unknownhost interrupted maxretry",
  "unavailable final": "enospc diskfull edquot sslcertverification ssl",
  server_error:
    "internal servererror internalerror internalservererror apierror internalfailure dataloss",
  payload_too_large:
    "payloadtoolarge entitytoolarge requesttoolarge contextlengthexceeded requestentitytoolarge " +
    "toolarge requestbodytoolarge bodytoolarge emessagesize filetoolarge limitfilesize",
  out_of_range:
    "outofrange index indexoutofbounds range rangeerror overflow arrayindexoutofbounds " +
    "stringindexoutofbounds argumentoutofrange",
  null_dereference: "nullpointer nullreference nomethodfornil",
  syntax_error:
    "syntax jsondecode jsonparse jsonparser invalidjson malformedjson parseerror graphqlparsefailed " +
    "jsonprocessing jsonreader malformedxml indentation httpmessagenotreadable scanner bodynotjson",
  unresolved_reference: "name nameerror unboundlocal reference undefinedvariable",
  unknown_tool: "unknowntool toolnotfound nosuchtool methodnotfound unimplemented commandnotfound",
  missing_argument: "argumentnull missingargs errmissingargs argumentcount",
  deadlock: "deadlock deadlockdetected",
  serialization_failure: "serializationfailure writeconflict transienttransaction",
  undefined_column: "undefinedcolumn unknownattribute",
  undefined_table: "undefinedtable nosuchtable namespacenotfound",
  not_null_violation: "notnullviolation notnullconstraintviolation nullconstraint",
  foreign_key_violation:
    "foreignkeyviolation foreignkeyconstraint foreignkeyconstraintviolation protected restricted invalidforeignkey",
  check_violation: "checkviolation checkconstraint documentvalidationfailure",
  other:
    "runtime assertion zerodivision notimplemented recursion memory stopiteration systemexit " +
    "keyboardinterrupt arithmetic divisionbyzero unsupportedoperation exception error throwable " +
    "fault illegalstate operational carddeclined aborterror abort cancelled canceled notsupported",
};

/** Squeezed name -> category, with " retry" or " final" where it differs from the category. */
export const CODE_NAMES: ReadonlyMap<string, string> = new Map(
  Object.entries(NAMES).flatMap(([meaning, names]) =>
    names.split(" ").map((name): [string, string] => [strip(name), meaning]),
  ),
);

function strip(name: string): string {
  return name.replace(/(?<=.{4})(?:exception|error)$/, "");
}
