/// An error answer: a FileMaker code, its text and its HTTP status.
///
/// Source: Claris FileMaker error codes. The statuses follow the Data API Guide, "Error responses": 400 for malformed
/// requests, 401 for accounts and tokens, 500 for all errors of FileMaker itself.
///
/// A number is an error, with the text and the status that a host sends with it. Many errors have a name:
///
///     sandbox.inject(.error(301))
///     sandbox.inject(.error(.recordInUse))
///     sandbox.inject(.error(error.fileMakerCode ?? .unknown))         // by FMData's type for codes
public struct FileMakerError: Error, Hashable, Sendable, ExpressibleByIntegerLiteral {
    /// The FileMaker error code.
    public var code: Int
    /// The text that answers have next to the code.
    public var message: String
    /// The HTTP status.
    public var status: Int

    /// Creates an error. By default it has the text and the status that a host sends with this code.
    public init(_ code: Int, message: String? = nil, status: Int? = nil) {
        self.code = code
        self.message = message ?? Self.messages[code] ?? "Error \(code)"
        self.status = status ?? Self.status(for: code)
    }

    /// Creates an error with this code, and the text and the status that a host sends with it.
    public init(integerLiteral code: Int) {
        self.init(code)
    }

    /// Creates an error from a client's type for codes: any type whose raw value is the code, such as FMData's
    /// `FileMakerErrorCode`.
    public init(_ code: some RawRepresentable<Int>, message: String? = nil, status: Int? = nil) {
        self.init(code.rawValue, message: message, status: status)
    }

    private static func status(for code: Int) -> Int {
        switch code {
        case 0: 200
        case 10, 957, 958, 960, 1705...1710: 400
        case 210...212, 214, 952, 1702, 1703: 401
        case 1700: 404
        case 1701: 503
        case 1704: 405
        default: 500
        }
    }

    private static let messages: [Int: String] = [
        -1: "Unknown error",
        0: "OK",
        3: "Command is unavailable",
        8: "Empty result",
        9: "Insufficient privileges",
        10: "Requested data is missing",
        100: "File is missing",
        101: "Record is missing",
        102: "Field is missing",
        103: "Relationship is missing",
        104: "Script is missing",
        105: "Layout is missing",
        106: "Table is missing",
        108: "Value list is missing",
        110: "Related tables are missing",
        111: "Repetition number is invalid",
        112: "Window is missing",
        116: "Layout object is missing",
        117: "Data source is missing",
        200: "Record access is denied",
        201: "Field cannot be modified",
        202: "Field access is denied",
        204: "No access to field(s) in sort order",
        210: "User account is inactive",
        211: "Password has expired",
        212: "Invalid user account or password; please try again",
        214: "Too many login attempts, account disabled",
        300: "File is locked or in use",
        301: "Record is in use by another user",
        303: "Database schema is in use by another user",
        304: "Layout is in use by another user",
        306: "Record modification ID does not match",
        307: "Transaction could not be locked because of a communication error with the host",
        400: "Find criteria are empty",
        401: "No records match the request",
        402: "Selected field is not a match field for a lookup",
        404: "Sort order is invalid",
        407: "One or both match fields are missing",
        408: "Specified field has inappropriate data type for this operation",
        409: "Import order is invalid",
        413: "Specified field has inappropriate field type for this operation",
        415: "One or more of the required related records are not available",
        500: "Date value does not meet validation entry options",
        501: "Time value does not meet validation entry options",
        502: "Number value does not meet validation entry options",
        503: "Value in field is not within the range specified in validation entry options",
        504: "Value in field is not unique, as required in validation entry options",
        505: "Value in field is not an existing value in the database file, as required in validation entry options",
        506: "Value in field is not listed in the value list specified in validation entry option",
        507: "Value in field failed calculation test of validation entry option",
        508: "Invalid value entered in Find mode",
        509: "Field requires a valid value",
        510: "Related value is empty or unavailable",
        511: "Value in field exceeds the maximum field size",
        512: "Record was already modified by another user",
        513: "Value does not fit into the field",
        802: "Unable to open file",
        803: "File is single-user, or host cannot be found",
        812: "Exceeded host's capacity",
        951: "Unexpected error occurred",
        952: "Invalid FileMaker Data API token (*)",
        953: "Exceeded the limit on data the FileMaker Data API can transmit",
        954: "Unsupported XML grammar",
        955: "No database name",
        956: "Maximum number of Data API sessions exceeded",
        957: "Conflicting commands",
        958: "Parameter missing",
        959: "Custom Web Publishing technology disabled",
        960: "Parameter is invalid",
        1630: "URL format is incorrect",
        1631: "Connection failed",
        1638: "Host is not accepting new connections",
        1700: "Resource doesn't exist",
        1701: "Engine is currently unable to receive requests",
        1702: "Authentication information was not provided in the correct format",
        1703: "Invalid user name, password or token",
        1704: "Specified HTTP verb is not supported",
        1705: "Required HTTP header was not specified",
        1706: "Parameter is not supported",
        1707: "Required parameter was not specified in the request",
        1708: "Parameter value is invalid",
        1709: "Operation is invalid for the resource's current status",
        1710: "JSON is not well-formed",
        1711: "License has expired",
    ]
}
