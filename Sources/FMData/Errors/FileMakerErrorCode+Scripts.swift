// The codes that reach a client inside a script's result only: the script steps behind them print, import, calculate,
// send mail or call other hosts. Numbers: Claris FileMaker error codes, edition 26. The names and the words are ours.

// MARK: - Printing

extension FileMakerErrorCode {
    /// Printing failed.
    public static let printingFailed: Self = 600
    /// Header and footer are taller than a page.
    public static let headerFooterTooTall: Self = 601
    /// Body does not fit on a page.
    public static let bodyTooWide: Self = 602
    /// Connection to the printer lost.
    public static let printerConnectionLost: Self = 603
}

// MARK: - Import and export

extension FileMakerErrorCode {
    /// File type cannot be imported.
    public static let importTypeWrong: Self = 700
    /// EPS file has no preview.
    public static let epsPreviewMissing: Self = 706
    /// Graphic translator is missing.
    public static let graphicTranslatorMissing: Self = 707
    /// File cannot be imported on this display.
    public static let importNeedsColor: Self = 708
    /// Import translator is missing.
    public static let importTranslatorMissing: Self = 711
    /// Import or export denied.
    public static let importDenied: Self = 714
    /// Worksheet or named range is missing.
    public static let worksheetMissing: Self = 715
    /// Only SELECT is allowed for an ODBC import.
    public static let sqlNotAllowedForImport: Self = 716
    /// Not enough XML or XSL information.
    public static let xmlInformationMissing: Self = 717
    /// XML could not be parsed.
    public static let xmlParsingFailed: Self = 718
    /// XSL transformation failed.
    public static let xslTransformationFailed: Self = 719
    /// Export format knows no repeating fields.
    public static let exportWithoutRepetitions: Self = 720
    /// Parser or transformer failed.
    public static let transformerFailed: Self = 721
    /// Import target has no fields.
    public static let importTargetHasNoFields: Self = 722
    /// Adding or modifying records in the import target denied.
    public static let importWriteDenied: Self = 723
    /// Adding records to the import target denied.
    public static let importAddDenied: Self = 724
    /// Modifying records in the import target denied.
    public static let importModifyDenied: Self = 725
    /// Import source has more records than the target.
    public static let importSourceLonger: Self = 726
    /// Import target has more records than the source.
    public static let importTargetLonger: Self = 727
    /// Some records could not be imported.
    public static let importIncomplete: Self = 729
    /// Excel version is not supported.
    public static let excelVersionUnsupported: Self = 730
    /// Import source is empty.
    public static let importSourceEmpty: Self = 731
    /// File contains other files and cannot be inserted.
    public static let insertedFileContainsFiles: Self = 732
    /// Table cannot be imported into itself.
    public static let importIntoItself: Self = 733
    /// File type cannot be shown as a picture.
    public static let notAPicture: Self = 734
    /// File type is inserted as a file, not as a picture.
    public static let insertedAsFile: Self = 735
    /// Too much data for the export format.
    public static let exportTruncated: Self = 736
    /// Theme exists already.
    public static let themeExists: Self = 738
}

// MARK: - Models and artificial intelligence

extension FileMakerErrorCode {
    /// Core ML model could not be loaded.
    public static let modelNotLoaded: Self = 871
    /// Core ML model has an unsupported parameter.
    public static let modelParameterUnsupported: Self = 872
    /// AI endpoint is empty.
    public static let endpointEmpty: Self = 875
    /// Layout shows records of another table.
    public static let layoutOfAnotherTable: Self = 876
    /// AI account is missing.
    public static let aiAccountMissing: Self = 877
    /// Options of the AI step are no valid JSON.
    public static let aiOptionsMalformed: Self = 878
    /// Parameters of the AI step are no valid JSON.
    public static let aiParametersMalformed: Self = 879
    /// AI request is not valid.
    public static let aiRequestInvalid: Self = 882
    /// Request to a custom model provider is not valid.
    public static let customProviderRequestInvalid: Self = 883
    /// AI request was refused.
    public static let aiRequestRefused: Self = 884
    /// AI endpoint is invalid or unreachable.
    public static let aiEndpointUnreachable: Self = 885
    /// Request to an open-source model provider is not valid.
    public static let openSourceProviderRequestInvalid: Self = 886
    /// Action on the RAG space is not valid.
    public static let ragActionInvalid: Self = 887
    /// RAG account is missing.
    public static let ragAccountMissing: Self = 892
}

// MARK: - Spelling and single commands

extension FileMakerErrorCode {
    /// Spelling engine failed.
    public static let spellingFailed: Self = 900
    /// Main dictionary is not installed.
    public static let spellingDictionaryMissing: Self = 901
    /// Command cannot be used in a shared file.
    public static let commandForbiddenInSharedFile: Self = 903
    /// Command needs an active field.
    public static let activeFieldRequired: Self = 905
    /// Command needs a shared file.
    public static let sharedFileRequired: Self = 906
    /// Spelling engine could not be started.
    public static let spellingNotInitialized: Self = 920
    /// User dictionary could not be loaded.
    public static let userDictionaryNotLoaded: Self = 921
    /// User dictionary is missing.
    public static let userDictionaryMissing: Self = 922
    /// User dictionary is read-only.
    public static let userDictionaryReadOnly: Self = 923
}

// MARK: - Calculations and custom functions

extension FileMakerErrorCode {
    /// Calculation failed.
    public static let calculationFailed: Self = 1200
    /// Function has too few parameters.
    public static let tooFewParameters: Self = 1201
    /// Function has too many parameters.
    public static let tooManyParameters: Self = 1202
    /// Calculation ends too early.
    public static let calculationEndsEarly: Self = 1203
    /// Number, text, field or opening parenthesis expected.
    public static let operandExpected: Self = 1204
    /// Comment is not terminated.
    public static let commentUnterminated: Self = 1205
    /// Text constant is not terminated.
    public static let textUnterminated: Self = 1206
    /// Parentheses are not balanced.
    public static let parenthesisUnbalanced: Self = 1207
    /// Operator or function is missing.
    public static let operatorMissing: Self = 1208
    /// Name is missing in the calculation.
    public static let calculationNameMissing: Self = 1209
    /// Plug-in function is registered already.
    public static let plugInFunctionRegistered: Self = 1210
    /// Function takes no list.
    public static let listNotAllowed: Self = 1211
    /// Operator expected.
    public static let operatorExpected: Self = 1212
    /// Variable of Let is defined twice.
    public static let variableDefinedTwice: Self = 1213
    /// Function needs a field, not an expression.
    public static let fieldExpected: Self = 1214
    /// Parameter of Get is not valid.
    public static let getParameterInvalid: Self = 1215
    /// GetSummary needs a summary field.
    public static let summaryFieldExpected: Self = 1216
    /// Break field is not valid.
    public static let breakFieldInvalid: Self = 1217
    /// Number could not be evaluated.
    public static let numberNotEvaluated: Self = 1218
    /// Field is used in its own formula.
    public static let fieldInOwnFormula: Self = 1219
    /// Field must be normal or calculated.
    public static let normalOrCalculatedExpected: Self = 1220
    /// Type must be number, date, time or timestamp.
    public static let numericTypeExpected: Self = 1221
    /// Calculation cannot be stored.
    public static let calculationNotStorable: Self = 1222
    /// Function is not implemented yet.
    public static let functionNotImplemented: Self = 1223
    /// Function does not exist.
    public static let functionUnknown: Self = 1224
    /// Function is not supported here.
    public static let functionUnsupportedHere: Self = 1225
    /// Name cannot be used.
    public static let nameNotUsable: Self = 1300
    /// Parameter is named like a function of the file.
    public static let parameterNamedLikeFunction: Self = 1301
}

// MARK: - ODBC and SQL

extension FileMakerErrorCode {
    /// ODBC driver could not be started.
    public static let odbcDriverNotInitialized: Self = 1400
    /// ODBC environment could not be allocated.
    public static let odbcEnvironmentNotAllocated: Self = 1401
    /// ODBC environment could not be freed.
    public static let odbcEnvironmentNotFreed: Self = 1402
    /// ODBC connection could not be ended.
    public static let odbcDisconnectFailed: Self = 1403
    /// ODBC connection could not be allocated.
    public static let odbcConnectionNotAllocated: Self = 1404
    /// ODBC connection could not be freed.
    public static let odbcConnectionNotFreed: Self = 1405
    /// Check of the SQL interface failed.
    public static let odbcCheckFailed: Self = 1406
    /// ODBC statement could not be allocated.
    public static let odbcStatementNotAllocated: Self = 1407
    /// Extended error of ODBC.
    public static let odbcExtendedError: Self = 1408
    /// Error of ODBC.
    public static let odbcError: Self = 1409
    /// ODBC communication link failed.
    public static let odbcLinkFailed: Self = 1413
    /// SQL statement is too long.
    public static let sqlStatementTooLong: Self = 1414
    /// ODBC connection is being ended.
    public static let odbcDisconnecting: Self = 1415
    /// Extended privilege for PHP is required.
    public static let phpPrivilegeRequired: Self = 1450
    /// Current file must be a remote one.
    public static let remoteFileRequired: Self = 1451
}

// MARK: - Mail

extension FileMakerErrorCode {
    /// Authentication at the SMTP server failed.
    public static let smtpAuthenticationFailed: Self = 1501
    /// SMTP server refused the connection.
    public static let smtpConnectionRefused: Self = 1502
    /// TLS with the SMTP server failed.
    public static let smtpTLSFailed: Self = 1503
    /// SMTP server wants encryption.
    public static let smtpEncryptionRequired: Self = 1504
    /// SMTP server does not support the authentication.
    public static let smtpAuthenticationUnsupported: Self = 1505
    /// Mail could not be sent.
    public static let mailNotSent: Self = 1506
    /// Login at the SMTP server failed.
    public static let smtpLoginFailed: Self = 1507
    /// JSON web token for mail could not be made.
    public static let mailTokenNotGenerated: Self = 1541
    /// Access token for mail could not be made.
    public static let mailAccessTokenNotGenerated: Self = 1542
    /// Test mail could not be sent.
    public static let testMailNotSent: Self = 1543
}

// MARK: - Plug-ins

extension FileMakerErrorCode {
    /// Plug-in could not be loaded.
    public static let plugInNotLoaded: Self = 1550
    /// Plug-in could not be installed.
    public static let plugInNotInstalled: Self = 1551
    /// Plug-in error 1552.
    public static let plugInError1552: Self = 1552
    /// Plug-in error 1553.
    public static let plugInError1553: Self = 1553
    /// Plug-in error 1554.
    public static let plugInError1554: Self = 1554
    /// Plug-in error 1555.
    public static let plugInError1555: Self = 1555
    /// Plug-in error 1556.
    public static let plugInError1556: Self = 1556
    /// Plug-in error 1557.
    public static let plugInError1557: Self = 1557
    /// Plug-in error 1558.
    public static let plugInError1558: Self = 1558
    /// Plug-in error 1559.
    public static let plugInError1559: Self = 1559
}

// MARK: - Requests a script sends (Insert from URL)

extension FileMakerErrorCode {
    /// Protocol of the URL is not supported.
    public static let urlProtocolUnsupported: Self = 1626
    /// Authentication for the URL failed.
    public static let urlAuthenticationFailed: Self = 1627
    /// TLS failed.
    public static let urlTLSFailed: Self = 1628
    /// Connection timed out.
    public static let urlTimedOut: Self = 1629
    /// URL is malformed.
    public static let urlMalformed: Self = 1630
    /// Connection failed.
    public static let urlConnectionFailed: Self = 1631
    /// Certificate has expired.
    public static let certificateExpired: Self = 1632
    /// Certificate is self-signed.
    public static let certificateSelfSigned: Self = 1633
    /// Certificate could not be verified.
    public static let certificateNotVerified: Self = 1634
    /// Connection is not encrypted.
    public static let connectionUnencrypted: Self = 1635
    /// Host allows no new connections.
    public static let newConnectionsRefused: Self = 1638
}
