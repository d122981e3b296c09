// Names of the errors that tests use most, so that code reads `.error(.recordInUse)`. FMData has the same names for
// these codes.
extension FileMakerError {
    /// 9: Insufficient privileges.
    public static let insufficientPrivileges: Self = 9
    /// 101: Record is missing.
    public static let recordMissing: Self = 101
    /// 102: Field is missing.
    public static let fieldMissing: Self = 102
    /// 104: Script is missing.
    public static let scriptMissing: Self = 104
    /// 105: Layout is missing.
    public static let layoutMissing: Self = 105
    /// 112: Window is missing.
    public static let windowMissing: Self = 112
    /// 200: Record access is denied.
    public static let recordAccessDenied: Self = 200
    /// 201: Field cannot be modified.
    public static let fieldNotModifiable: Self = 201
    /// 212: Invalid user account or password.
    public static let invalidAccount: Self = 212
    /// 214: Too many login attempts.
    public static let tooManyLoginAttempts: Self = 214
    /// 301: Record is in use by another user.
    public static let recordInUse: Self = 301
    /// 306: Record modification ID does not match.
    public static let modIdMismatch: Self = 306
    /// 401: No records match the request.
    public static let noRecordsMatch: Self = 401
    /// 500: Date value does not meet validation entry options.
    public static let dateInvalid: Self = 500
    /// 504: Value in field is not unique.
    public static let valueNotUnique: Self = 504
    /// 506: Value in field is not listed in the value list.
    public static let valueNotInList: Self = 506
    /// 509: Field requires a valid value.
    public static let valueRequired: Self = 509
    /// 802: Unable to open file.
    public static let fileNotOpened: Self = 802
    /// 812: Exceeded host's capacity.
    public static let hostCapacityExceeded: Self = 812
    /// 952: Invalid FileMaker Data API token.
    public static let invalidToken: Self = 952
    /// 956: Maximum number of Data API sessions exceeded.
    public static let sessionLimitExceeded: Self = 956
}
