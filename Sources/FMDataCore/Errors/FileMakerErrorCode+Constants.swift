/// Names of codes that a call of the Data API can end with: those that decide what the library does, those that its
/// tests and articles name, and all with which a field refuses a value.
///
/// Any other number is a code as well: `case 803:` matches it, and its ``FileMakerErrorCode/name`` and
/// ``FileMakerErrorCode/hint`` come from a table of all codes that Claris documents.
extension FileMakerErrorCode {
    // MARK: General

    /// Unknown error.
    public static let unknown: Self = -1
    /// No error.
    public static let ok: Self = 0
    /// Privileges are insufficient.
    public static let insufficientPrivileges: Self = 9
    /// File or object is in use.
    public static let objectInUse: Self = 13
    /// Operation failed and may be retried.
    public static let operationFailedRetry: Self = 16

    // MARK: Missing things

    /// Record is missing.
    public static let recordMissing: Self = 101
    /// Field is missing.
    public static let fieldMissing: Self = 102
    /// Script is missing.
    public static let scriptMissing: Self = 104
    /// Layout is missing.
    public static let layoutMissing: Self = 105
    /// Table is missing.
    public static let tableMissing: Self = 106
    /// Window is missing.
    public static let windowMissing: Self = 112

    // MARK: Accounts and privileges

    /// Record access denied.
    public static let recordAccessDenied: Self = 200
    /// Field cannot be modified.
    public static let fieldNotModifiable: Self = 201
    /// Account is inactive.
    public static let accountInactive: Self = 210
    /// Password has expired.
    public static let passwordExpired: Self = 211
    /// Account or password is wrong.
    public static let invalidAccount: Self = 212
    /// Too many attempts to log in.
    public static let tooManyLoginAttempts: Self = 214

    // MARK: Locking

    /// File is locked or in use.
    public static let fileInUse: Self = 300
    /// Record is in use elsewhere.
    public static let recordInUse: Self = 301
    /// Table is in use elsewhere.
    public static let tableInUse: Self = 302
    /// Schema is in use elsewhere.
    public static let schemaInUse: Self = 303
    /// Layout is in use elsewhere.
    public static let layoutInUse: Self = 304
    /// Modification id does not match.
    public static let modIdMismatch: Self = 306
    /// Transaction could not be locked.
    public static let transactionLockFailed: Self = 307
    /// Theme is in use elsewhere.
    public static let themeInUse: Self = 308
    /// Items are being modified elsewhere.
    public static let itemsInUse: Self = 310

    // MARK: Finding, sorting, relationships

    /// Find criteria are empty.
    public static let findCriteriaEmpty: Self = 400
    /// No records match the request.
    public static let noRecordsMatch: Self = 401

    // MARK: Validation

    /// Date fails validation.
    public static let dateInvalid: Self = 500
    /// Time fails validation.
    public static let timeInvalid: Self = 501
    /// Number fails validation.
    public static let numberInvalid: Self = 502
    /// Value is outside the allowed range.
    public static let valueOutOfRange: Self = 503
    /// Value is not unique.
    public static let valueNotUnique: Self = 504
    /// Value does not exist in the file.
    public static let valueNotExisting: Self = 505
    /// Value is not in the value list.
    public static let valueNotInList: Self = 506
    /// Value fails the validation calculation.
    public static let validationCalculationFailed: Self = 507
    /// Find criterion does not suit the field.
    public static let findValueInvalid: Self = 508
    /// Field needs a value.
    public static let valueRequired: Self = 509
    /// Related value is empty or unavailable.
    public static let relatedValueUnavailable: Self = 510
    /// Value exceeds the maximum size of the field.
    public static let valueTooLong: Self = 511
    /// Record was modified in the meantime.
    public static let recordModifiedElsewhere: Self = 512
    /// Value does not fit into the field.
    public static let valueDoesNotFit: Self = 513

    // MARK: Files and hosts

    /// File could not be opened.
    public static let fileNotOpened: Self = 802
    /// Capacity of the host is exceeded.
    public static let hostCapacityExceeded: Self = 812
    /// File is being modified elsewhere.
    public static let fileModifiedElsewhere: Self = 870

    // MARK: Web publishing and the Data API

    /// Session token is not valid.
    public static let invalidToken: Self = 952
    /// Limit of data sent out is exceeded.
    public static let transferLimitExceeded: Self = 953
    /// Maximum number of sessions is reached.
    public static let sessionLimitExceeded: Self = 956
    /// Parameter is unknown or not valid.
    public static let parameterInvalid: Self = 960

    // MARK: REST

    /// Host allows no new connections.
    public static let newConnectionsRefused: Self = 1638
    /// Resource does not exist.
    public static let resourceMissing: Self = 1700
    /// Host cannot receive requests now.
    public static let hostUnavailable: Self = 1701
    /// Required HTTP header is missing.
    public static let headerMissing: Self = 1705
    /// Value of a parameter is not valid.
    public static let parameterValueInvalid: Self = 1708
    /// Sign-in with external accounts is not enabled.
    public static let externalSignInDisabled: Self = 1715
}
