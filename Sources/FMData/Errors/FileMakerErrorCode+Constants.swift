// The codes that a Data API request itself may end with. Other codes reach a client only inside a script's result and
// have no constant; their `name`, `category` and `hint` are found by the number.

// MARK: - General

extension FileMakerErrorCode {
    /// Unknown error.
    public static let unknown: Self = -1
    /// No error.
    public static let ok: Self = 0
    /// Canceled by the user.
    public static let canceledByUser: Self = 1
    /// Memory failure.
    public static let memoryFailure: Self = 2
    /// Command not available here.
    public static let commandUnavailable: Self = 3
    /// Command not known.
    public static let commandUnknown: Self = 4
    /// Command incomplete or invalid.
    public static let commandInvalid: Self = 5
    /// File is read-only.
    public static let fileReadOnly: Self = 6
    /// Memory running out.
    public static let outOfMemory: Self = 7
    /// Result is empty.
    public static let emptyResult: Self = 8
    /// Privileges are insufficient.
    public static let insufficientPrivileges: Self = 9
    /// Requested data is missing.
    public static let requestedDataMissing: Self = 10
    /// Name is not valid.
    public static let nameInvalid: Self = 11
    /// Name exists already.
    public static let nameTaken: Self = 12
    /// File or object is in use.
    public static let objectInUse: Self = 13
    /// Value out of range.
    public static let outOfRange: Self = 14
    /// Division by zero.
    public static let divisionByZero: Self = 15
    /// Operation failed and may be retried.
    public static let operationFailedRetry: Self = 16
    /// Text could not be converted to UTF-16.
    public static let textConversionFailed: Self = 17
    /// Account information is required.
    public static let accountInformationRequired: Self = 18
    /// Text has other characters than A-Z, a-z, 0-9.
    public static let notASCIIAlphanumeric: Self = 19
    /// Canceled by a triggered script.
    public static let canceledByTrigger: Self = 20
    /// Request is not supported.
    public static let requestUnsupported: Self = 21
}

// MARK: - Missing things

extension FileMakerErrorCode {
    /// File is missing.
    public static let fileMissing: Self = 100
    /// Record is missing.
    public static let recordMissing: Self = 101
    /// Field is missing.
    public static let fieldMissing: Self = 102
    /// Relationship is missing.
    public static let relationshipMissing: Self = 103
    /// Script is missing.
    public static let scriptMissing: Self = 104
    /// Layout is missing.
    public static let layoutMissing: Self = 105
    /// Table is missing.
    public static let tableMissing: Self = 106
    /// Index is missing.
    public static let indexMissing: Self = 107
    /// Value list is missing.
    public static let valueListMissing: Self = 108
    /// Privilege set is missing.
    public static let privilegeSetMissing: Self = 109
    /// Related tables are missing.
    public static let relatedTablesMissing: Self = 110
    /// Field has no such repetition.
    public static let repetitionInvalid: Self = 111
    /// Window is missing.
    public static let windowMissing: Self = 112
    /// Function is missing.
    public static let functionMissing: Self = 113
    /// File reference is missing.
    public static let fileReferenceMissing: Self = 114
    /// Menu set is missing.
    public static let menuSetMissing: Self = 115
    /// Layout object is missing.
    public static let layoutObjectMissing: Self = 116
    /// Data source is missing.
    public static let dataSourceMissing: Self = 117
    /// Theme is missing.
    public static let themeMissing: Self = 118
    /// No supported mail program found.
    public static let mailClientMissing: Self = 119
    /// Program files are damaged or missing.
    public static let installationDamaged: Self = 130
    /// Language files are missing.
    public static let languageFilesMissing: Self = 131
}

// MARK: - Accounts and privileges

extension FileMakerErrorCode {
    /// Record access denied.
    public static let recordAccessDenied: Self = 200
    /// Field cannot be modified.
    public static let fieldNotModifiable: Self = 201
    /// Field access denied.
    public static let fieldAccessDenied: Self = 202
    /// Nothing to print, or printing denied.
    public static let printingDenied: Self = 203
    /// No access to a sort field.
    public static let sortFieldAccessDenied: Self = 204
    /// Creating records denied.
    public static let recordCreationDenied: Self = 205
    /// Changing the password denied.
    public static let passwordChangeDenied: Self = 206
    /// Changing the schema denied.
    public static let schemaChangeDenied: Self = 207
    /// Password is too short.
    public static let passwordTooShort: Self = 208
    /// New password equals the old one.
    public static let passwordUnchanged: Self = 209
    /// Account is inactive.
    public static let accountInactive: Self = 210
    /// Password has expired.
    public static let passwordExpired: Self = 211
    /// Account or password is wrong.
    public static let invalidAccount: Self = 212
    /// Too many attempts to log in.
    public static let tooManyLoginAttempts: Self = 214
    /// Administrator privileges cannot be duplicated.
    public static let administratorNotDuplicable: Self = 215
    /// Guest account cannot be duplicated.
    public static let guestNotDuplicable: Self = 216
    /// Changing the administrator account denied.
    public static let administratorChangeDenied: Self = 217
    /// Password and its confirmation differ.
    public static let passwordConfirmationDiffers: Self = 218
    /// Only a licensed user may open the file.
    public static let licensedUserRequired: Self = 219
}

// MARK: - Locking

extension FileMakerErrorCode {
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
    /// Layout was not created.
    public static let layoutNotCreated: Self = 305
    /// Modification id does not match.
    public static let modIdMismatch: Self = 306
    /// Transaction could not be locked.
    public static let transactionLockFailed: Self = 307
    /// Theme is in use elsewhere.
    public static let themeInUse: Self = 308
    /// Items are being modified elsewhere.
    public static let itemsInUse: Self = 310
}

// MARK: - Finding, sorting, relationships

extension FileMakerErrorCode {
    /// Find criteria are empty.
    public static let findCriteriaEmpty: Self = 400
    /// No records match the request.
    public static let noRecordsMatch: Self = 401
    /// Field is no match field of a lookup.
    public static let notALookupMatchField: Self = 402
    /// Sort order is not valid.
    public static let sortOrderInvalid: Self = 404
    /// Fewer records than were to be omitted.
    public static let omitCountTooLarge: Self = 405
    /// Replace or serialize criteria are not valid.
    public static let replaceCriteriaInvalid: Self = 406
    /// Match field of the relationship is missing.
    public static let matchFieldsMissing: Self = 407
    /// Data type of the field does not suit the operation.
    public static let dataTypeUnsuitable: Self = 408
    /// Import order is not valid.
    public static let importOrderInvalid: Self = 409
    /// Export order is not valid.
    public static let exportOrderInvalid: Self = 410
    /// File was recovered by another version.
    public static let recoveredByWrongVersion: Self = 412
    /// Kind of the field does not suit the operation.
    public static let fieldTypeUnsuitable: Self = 413
    /// Layout cannot show the result.
    public static let layoutCannotShowResult: Self = 414
    /// Required related records are not available.
    public static let relatedRecordsUnavailable: Self = 415
    /// Table of the data source needs a primary key.
    public static let primaryKeyRequired: Self = 416
    /// File is no supported data source.
    public static let dataSourceUnsupported: Self = 417
    /// Inserting into the field failed.
    public static let insertFailed: Self = 418
}

// MARK: - Validation

extension FileMakerErrorCode {
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
}

// MARK: - Files and hosts

extension FileMakerErrorCode {
    /// File could not be created.
    public static let fileNotCreated: Self = 800
    /// Temporary file could not be created.
    public static let temporaryFileNotCreated: Self = 801
    /// File could not be opened.
    public static let fileNotOpened: Self = 802
    /// File is single-user, or the host was not found.
    public static let fileNotShared: Self = 803
    /// File cannot be opened read-only now.
    public static let readOnlyOpenRefused: Self = 804
    /// File is damaged and needs recovery.
    public static let fileNeedsRecovery: Self = 805
    /// File needs another version.
    public static let fileVersionUnsupported: Self = 806
    /// File is no FileMaker file or badly damaged.
    public static let notADatabase: Self = 807
    /// Access privileges of the file are damaged.
    public static let privilegesDamaged: Self = 808
    /// Disk is full.
    public static let diskFull: Self = 809
    /// Disk is locked.
    public static let diskLocked: Self = 810
    /// Temporary file cannot be opened as a FileMaker file.
    public static let temporaryFileUnusable: Self = 811
    /// Capacity of the host is exceeded.
    public static let hostCapacityExceeded: Self = 812
    /// Record synchronization on the network failed.
    public static let recordSynchronizationFailed: Self = 813
    /// Maximum number of files is open.
    public static let tooManyOpenFiles: Self = 814
    /// Lookup file could not be opened.
    public static let lookupFileNotOpened: Self = 815
    /// File could not be converted.
    public static let fileNotConverted: Self = 816
    /// File does not belong to the solution.
    public static let fileOutsideSolution: Self = 817
    /// Remote file cannot be saved as a local copy.
    public static let localCopyRefused: Self = 819
    /// File is being closed.
    public static let fileClosing: Self = 820
    /// Host forced a disconnect.
    public static let disconnectedByHost: Self = 821
    /// FileMaker program files were not found.
    public static let programFilesMissing: Self = 822
    /// File has guests and cannot become single-user.
    public static let guestsConnected: Self = 823
    /// File is damaged or no FileMaker file.
    public static let fileDamaged: Self = 824
    /// File may not refer to the protected file.
    public static let fileReferenceUnauthorized: Self = 825
    /// File path is not valid.
    public static let filePathInvalid: Self = 826
    /// File was not created since its source holds no data.
    public static let fileSourceEmpty: Self = 827
    /// Path is not valid on the operating system.
    public static let pathInvalidForSystem: Self = 850
    /// External file could not be deleted.
    public static let externalFileNotDeleted: Self = 851
    /// External storage could not be written.
    public static let externalStorageNotWritable: Self = 852
    /// Container data could not be transferred.
    public static let containerTransferFailed: Self = 853
    /// File is being modified elsewhere.
    public static let fileModifiedElsewhere: Self = 870
}

// MARK: - Web publishing and the Data API

extension FileMakerErrorCode {
    /// Unexpected error of the web publishing engine.
    public static let unexpectedError: Self = 951
    /// Session token is not valid.
    public static let invalidToken: Self = 952
    /// Limit of data sent out is exceeded.
    public static let transferLimitExceeded: Self = 953
    /// XML grammar is not supported.
    public static let xmlGrammarUnsupported: Self = 954
    /// Name of the database is missing.
    public static let databaseNameMissing: Self = 955
    /// Maximum number of sessions is reached.
    public static let sessionLimitExceeded: Self = 956
    /// Parameters conflict.
    public static let commandsConflict: Self = 957
    /// Parameter is missing.
    public static let parameterMissing: Self = 958
    /// Web publishing is switched off.
    public static let webPublishingDisabled: Self = 959
    /// Parameter is unknown or not valid.
    public static let parameterInvalid: Self = 960
}

// MARK: - REST

extension FileMakerErrorCode {
    /// Host allows no new connections.
    public static let newConnectionsRefused: Self = 1638
    /// Resource does not exist.
    public static let resourceMissing: Self = 1700
    /// Host cannot receive requests now.
    public static let hostUnavailable: Self = 1701
    /// Authorization header is malformed.
    public static let authorizationMalformed: Self = 1702
    /// User, password or web token is wrong.
    public static let invalidUserOrToken: Self = 1703
    /// HTTP method is not supported.
    public static let methodUnsupported: Self = 1704
    /// Required HTTP header is missing.
    public static let headerMissing: Self = 1705
    /// Parameter is not supported.
    public static let parameterUnsupported: Self = 1706
    /// Required parameter is missing.
    public static let requiredParameterMissing: Self = 1707
    /// Value of a parameter is not valid.
    public static let parameterValueInvalid: Self = 1708
    /// Operation does not suit the state of the resource.
    public static let statusForbidsOperation: Self = 1709
    /// JSON is malformed.
    public static let jsonMalformed: Self = 1710
    /// License of the host has expired.
    public static let licenseExpired: Self = 1711
    /// Private key file exists already.
    public static let privateKeyFileExists: Self = 1712
    /// Request is not supported on the operating system.
    public static let systemUnsupported: Self = 1713
    /// Name of the external group is not valid.
    public static let externalGroupNameInvalid: Self = 1714
    /// Sign-in with external accounts is not enabled.
    public static let externalSignInDisabled: Self = 1715
}
