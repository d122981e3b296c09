/// The documented codes, one row for each: number, category, name and, where the name does not say it all, a hint.
///
/// Source: Claris, "FileMaker error codes", edition 26. The names and the hints are this library's own.
extension FileMakerErrorCode {
    struct Row: Sendable {
        let number: Int
        let category: Category
        /// Unique, so that a name in a log identifies its code.
        let name: String
        /// Names the privilege, the setting or the argument to check; it never repeats the name.
        private(set) var hint: String?

        fileprivate init(_ number: Int, _ category: Category, _ name: String) {
            self.number = number
            self.category = category
            self.name = name
        }

        fileprivate func hint(_ hint: String) -> Row {
            var row = self
            row.hint = hint
            return row
        }
    }

    /// The row of the code; `nil` for a code that is not documented.
    var row: Row? { Self.rows[rawValue] }

    /// The rows by their numbers.
    static let rows = Dictionary(uniqueKeysWithValues: table.map { ($0.number, $0) })

    private static let table = [
        // General
        Row(-1, .general, "unknown error"),
        Row(0, .success, "no error"),
        Row(1, .general, "canceled by the user"),
        Row(2, .general, "memory failure"),
        Row(3, .script, "command not available here")
            .hint(
                "A script step does not run on a server. Look for steps marked as incompatible with FileMaker Server."
            ),
        Row(4, .script, "command not known"),
        Row(5, .script, "command incomplete or invalid"),
        Row(6, .file, "file is read-only"),
        Row(7, .general, "memory running out"),
        Row(8, .general, "result is empty"),
        Row(9, .privileges, "privileges are insufficient")
            .hint(
                "The account's privilege set does not allow this layout or script. Check its access to layouts and scripts."
            ),
        Row(10, .request, "requested data is missing")
            .hint("The host got no Authorization header. A proxy in between may have removed it."),
        Row(11, .general, "name is not valid"),
        Row(12, .general, "name exists already"),
        Row(13, .locking, "file or object is in use"),
        Row(14, .general, "value out of range"),
        Row(15, .general, "division by zero"),
        Row(16, .general, "operation failed and may be retried")
            .hint("The host advises to send the request again."),
        Row(17, .general, "text could not be converted to UTF-16"),
        Row(18, .account, "account information is required"),
        Row(19, .general, "text has other characters than A-Z, a-z, 0-9"),
        Row(20, .script, "canceled by a triggered script"),
        Row(21, .general, "request is not supported"),

        // Missing things
        Row(100, .missing, "file is missing")
            .hint("A file the solution refers to is not open on the host, or its data source has another path there."),
        Row(101, .missing, "record is missing")
            .hint(
                "No record has this id on this layout's table, the offset lies beyond the last record, or the "
                    + "account may not see it. A script that loops over records ends with 101 without anything being "
                    + "wrong."
            ),
        Row(102, .missing, "field is missing")
            .hint(
                "A field in the request is not on the layout. Fields must be placed on the layout to be read, "
                    + "written or found; a portal's fields are named Table::Field; a record id must not be among the "
                    + "fields."
            ),
        Row(103, .missing, "relationship is missing")
            .hint("The layout's table has no relationship to the table occurrence named in the request."),
        Row(104, .missing, "script is missing")
            .hint("No script has this name. The name is compared exactly; folders are no part of it."),
        Row(105, .missing, "layout is missing")
            .hint(
                "No layout has this name, or the account may not use it. Check the layout and layout.response, "
                    + "and a slash in the name."
            ),
        Row(106, .missing, "table is missing")
            .hint("The layout's table occurrence was removed from the relationships graph."),
        Row(107, .missing, "index is missing"),
        Row(108, .missing, "value list is missing")
            .hint("A sort order names a value list that the file does not have."),
        Row(109, .missing, "privilege set is missing"),
        Row(110, .missing, "related tables are missing")
            .hint("A related table's file is not open on the host or not accessible to the account."),
        Row(111, .missing, "field has no such repetition")
            .hint("The field is defined with fewer repetitions. Repetitions count from 1."),
        Row(112, .missing, "window is missing")
            .hint("A script closed the session's window, or the host ended the session. A new session helps."),
        Row(113, .missing, "function is missing"),
        Row(114, .missing, "file reference is missing"),
        Row(115, .missing, "menu set is missing"),
        Row(116, .missing, "layout object is missing"),
        Row(117, .missing, "data source is missing")
            .hint(
                "An external data source is not reachable from the host; check the credentials given for it at login."
            ),
        Row(118, .missing, "theme is missing"),
        Row(119, .mail, "no supported mail program found"),
        Row(130, .missing, "program files are damaged or missing"),
        Row(131, .missing, "language files are missing"),

        // Accounts and privileges
        Row(200, .privileges, "record access denied")
            .hint("The privilege set limits access to this record: View, Edit, Create or Delete under Records."),
        Row(201, .privileges, "field cannot be modified")
            .hint(
                "Calculation and summary fields cannot be written; otherwise check \"Prohibit modification of "
                    + "value\" and the account's field privileges."
            ),
        Row(202, .privileges, "field access denied")
            .hint("The privilege set gives no access to a field in the request."),
        Row(203, .privileges, "nothing to print, or printing denied"),
        Row(204, .privileges, "no access to a sort field")
            .hint("The account may not see a field of the sort order."),
        Row(205, .privileges, "creating records denied")
            .hint("The privilege set does not allow to create records in this table."),
        Row(206, .privileges, "changing the password denied"),
        Row(207, .privileges, "changing the schema denied"),
        Row(208, .account, "password is too short"),
        Row(209, .account, "new password equals the old one"),
        Row(210, .account, "account is inactive")
            .hint("Activate the account in the file under Manage Security."),
        Row(211, .account, "password has expired")
            .hint("Change the password in FileMaker Pro; the Data API cannot."),
        Row(212, .account, "account or password is wrong")
            .hint(
                "Check user and password, that the account is active, and that its privilege set has the "
                    + "extended privilege fmrest. FileMaker Cloud takes Claris IDs only."
            ),
        Row(214, .account, "too many attempts to log in")
            .hint("Wait some minutes before the next login: each attempt prolongs the lock-out."),
        Row(215, .privileges, "administrator privileges cannot be duplicated"),
        Row(216, .privileges, "guest account cannot be duplicated"),
        Row(217, .privileges, "changing the administrator account denied"),
        Row(218, .account, "password and its confirmation differ"),
        Row(219, .account, "only a licensed user may open the file")
            .hint("The host's licence does not cover this account; the team's manager can add it."),

        // Locking
        Row(300, .locking, "file is locked or in use")
            .hint("Somebody has the file locked. Try again later."),
        Row(301, .locking, "record is in use elsewhere")
            .hint("A user or another session is editing the record. Try again later."),
        Row(302, .locking, "table is in use elsewhere")
            .hint("Somebody is working on the table. Try again later."),
        Row(303, .locking, "schema is in use elsewhere")
            .hint("A developer is editing the fields or relationships of the file. Try again later."),
        Row(304, .locking, "layout is in use elsewhere")
            .hint("A developer is editing the layout. Try again later."),
        Row(305, .locking, "layout was not created"),
        Row(306, .locking, "modification id does not match")
            .hint("The record was changed since it was read. Read it again, then decide which change wins."),
        Row(307, .locking, "transaction could not be locked")
            .hint("The host lost the connection while it locked the records. Nothing was changed; try again."),
        Row(308, .locking, "theme is in use elsewhere"),
        Row(310, .locking, "items are being modified elsewhere"),

        // Finding, sorting, relationships
        Row(400, .find, "find criteria are empty")
            .hint("Every criterion is an empty text. To find empty fields use the criterion \"=\"."),
        Row(401, .find, "no records match the request")
            .hint(
                "This is an empty result. Criteria may hold unescaped operators: in addresses, @ stands for any character."
            ),
        Row(402, .find, "field is no match field of a lookup"),
        Row(404, .find, "sort order is not valid")
            .hint("A sort order must be ascend, descend or the name of a value list."),
        Row(405, .find, "fewer records than were to be omitted"),
        Row(406, .find, "replace or serialize criteria are not valid"),
        Row(407, .find, "match field of the relationship is missing")
            .hint("A relationship in the file is broken: a match field was deleted."),
        Row(408, .find, "data type of the field does not suit the operation")
            .hint("The operation does not work with this type of field: a container or a global field, perhaps."),
        Row(409, .importExport, "import order is not valid"),
        Row(410, .importExport, "export order is not valid"),
        Row(412, .file, "file was recovered by another version"),
        Row(413, .find, "kind of the field does not suit the operation")
            .hint(
                "The operation does not work with this kind of field: a calculation, summary or global field, perhaps."
            ),
        Row(414, .find, "layout cannot show the result"),
        Row(415, .find, "required related records are not available")
            .hint(
                "A related record that the request needs does not exist, or the relationship does not allow to create it."
            ),
        Row(416, .find, "table of the data source needs a primary key"),
        Row(417, .find, "file is no supported data source"),
        Row(418, .find, "inserting into the field failed"),

        // Validation
        Row(500, .validation, "date fails validation")
            .hint(
                "Dates go as MM/dd/yyyy unless the request sets dateformats; ISO dates need dateformats 2 and, "
                    + "for writing, FileMaker Server 2024."
            ),
        Row(501, .validation, "time fails validation")
            .hint("Times go as HH:mm:ss, timestamps as MM/dd/yyyy HH:mm:ss unless the request sets dateformats."),
        Row(502, .validation, "number fails validation")
            .hint("The field's validation wants a number."),
        Row(503, .validation, "value is outside the allowed range")
            .hint("The field's validation has a range (\"In range\")."),
        Row(504, .validation, "value is not unique")
            .hint("The field's validation wants unique values: a record with this value exists already."),
        Row(505, .validation, "value does not exist in the file")
            .hint("The field's validation wants a value that already exists in the field (\"Existing value\")."),
        Row(506, .validation, "value is not in the value list")
            .hint("The field's validation wants a member of a value list. An empty text may count as a value too."),
        Row(507, .validation, "value fails the validation calculation")
            .hint("The field's validation calculation returned false for the value."),
        Row(508, .validation, "find criterion does not suit the field")
            .hint("A criterion does not suit its field, for instance words in a date field."),
        Row(509, .validation, "field needs a value")
            .hint("The field's validation says \"Not empty\": send a value with the record."),
        Row(510, .validation, "related value is empty or unavailable")
            .hint("The related record whose value is needed does not exist."),
        Row(511, .validation, "value exceeds the maximum size of the field")
            .hint("The field's validation has a maximum number of characters."),
        Row(512, .validation, "record was modified in the meantime")
            .hint("Somebody else committed the record meanwhile. Read it again, then decide which change wins."),
        Row(513, .validation, "value does not fit into the field"),

        // Printing
        Row(600, .desktop, "printing failed"),
        Row(601, .desktop, "header and footer are taller than a page"),
        Row(602, .desktop, "body does not fit on a page"),
        Row(603, .desktop, "connection to the printer lost"),

        // Import and export
        Row(700, .importExport, "file type cannot be imported"),
        Row(706, .importExport, "EPS file has no preview"),
        Row(707, .importExport, "graphic translator is missing"),
        Row(708, .importExport, "file cannot be imported on this display"),
        Row(711, .importExport, "import translator is missing"),
        Row(714, .privileges, "import or export denied"),
        Row(715, .importExport, "worksheet or named range is missing"),
        Row(716, .importExport, "only SELECT is allowed for an ODBC import"),
        Row(717, .importExport, "not enough XML or XSL information"),
        Row(718, .importExport, "XML could not be parsed"),
        Row(719, .importExport, "XSL transformation failed"),
        Row(720, .importExport, "export format knows no repeating fields"),
        Row(721, .importExport, "parser or transformer failed"),
        Row(722, .importExport, "import target has no fields"),
        Row(723, .privileges, "adding or modifying records in the import target denied"),
        Row(724, .privileges, "adding records to the import target denied"),
        Row(725, .privileges, "modifying records in the import target denied"),
        Row(726, .importExport, "import source has more records than the target"),
        Row(727, .importExport, "import target has more records than the source"),
        Row(729, .importExport, "some records could not be imported"),
        Row(730, .importExport, "Excel version is not supported"),
        Row(731, .importExport, "import source is empty"),
        Row(732, .importExport, "file contains other files and cannot be inserted"),
        Row(733, .importExport, "table cannot be imported into itself"),
        Row(734, .importExport, "file type cannot be shown as a picture"),
        Row(735, .importExport, "file type is inserted as a file, not as a picture"),
        Row(736, .importExport, "too much data for the export format"),
        Row(738, .importExport, "theme exists already"),

        // Files and the host
        Row(800, .file, "file could not be created"),
        Row(801, .file, "temporary file could not be created"),
        Row(802, .file, "file could not be opened")
            .hint(
                "The database is not open on the host, its name is spelled differently, or the account lacks the "
                    + "extended privilege fmrest."
            ),
        Row(803, .host, "file is single-user, or the host was not found")
            .hint("The file is not shared, or the data source's host is down."),
        Row(804, .file, "file cannot be opened read-only now"),
        Row(805, .file, "file is damaged and needs recovery"),
        Row(806, .file, "file needs another version"),
        Row(807, .file, "file is no FileMaker file or badly damaged"),
        Row(808, .file, "access privileges of the file are damaged"),
        Row(809, .file, "disk is full")
            .hint("The host's disk is full."),
        Row(810, .file, "disk is locked"),
        Row(811, .file, "temporary file cannot be opened as a FileMaker file"),
        Row(812, .host, "capacity of the host is exceeded")
            .hint(
                "The host has no room for another connection. Sessions that nobody logs out stay for 15 minutes: "
                    + "look for programs that log in for every request."
            ),
        Row(813, .host, "record synchronization on the network failed"),
        Row(814, .file, "maximum number of files is open")
            .hint("The host has reached its number of open files."),
        Row(815, .file, "lookup file could not be opened"),
        Row(816, .file, "file could not be converted"),
        Row(817, .file, "file does not belong to the solution"),
        Row(819, .file, "remote file cannot be saved as a local copy"),
        Row(820, .file, "file is being closed")
            .hint("An administrator is closing the file."),
        Row(821, .host, "host forced a disconnect")
            .hint("An administrator or a schedule disconnected the session."),
        Row(822, .file, "FileMaker program files were not found"),
        Row(823, .file, "file has guests and cannot become single-user"),
        Row(824, .file, "file is damaged or no FileMaker file"),
        Row(825, .file, "file may not refer to the protected file")
            .hint("A protected file does not know this one: authorize it under Manage Security, File Access."),
        Row(826, .file, "file path is not valid"),
        Row(827, .file, "file was not created since its source holds no data"),
        Row(850, .file, "path is not valid on the operating system"),
        Row(851, .file, "external file could not be deleted"),
        Row(852, .file, "external storage could not be written")
            .hint("The host cannot write the folder of externally stored containers: check its disk and permissions."),
        Row(853, .file, "container data could not be transferred")
            .hint("The host could not move the container data: check its storage."),
        Row(870, .locking, "file is being modified elsewhere"),

        // Models and artificial intelligence
        Row(871, .intelligence, "Core ML model could not be loaded"),
        Row(872, .intelligence, "Core ML model has an unsupported parameter"),
        Row(875, .intelligence, "AI endpoint is empty"),
        Row(876, .intelligence, "layout shows records of another table"),
        Row(877, .intelligence, "AI account is missing"),
        Row(878, .intelligence, "options of the AI step are no valid JSON"),
        Row(879, .intelligence, "parameters of the AI step are no valid JSON"),
        Row(882, .intelligence, "AI request is not valid"),
        Row(883, .intelligence, "request to a custom model provider is not valid"),
        Row(884, .intelligence, "AI request was refused"),
        Row(885, .intelligence, "AI endpoint is invalid or unreachable"),
        Row(886, .intelligence, "request to an open-source model provider is not valid"),
        Row(887, .intelligence, "action on the RAG space is not valid"),
        Row(892, .intelligence, "RAG account is missing"),

        // Spelling and single commands
        Row(900, .desktop, "spelling engine failed"),
        Row(901, .desktop, "main dictionary is not installed"),
        Row(903, .desktop, "command cannot be used in a shared file"),
        Row(905, .desktop, "command needs an active field"),
        Row(906, .desktop, "command needs a shared file"),
        Row(920, .desktop, "spelling engine could not be started"),
        Row(921, .desktop, "user dictionary could not be loaded"),
        Row(922, .desktop, "user dictionary is missing"),
        Row(923, .desktop, "user dictionary is read-only"),

        // Web publishing and the Data API
        Row(951, .host, "unexpected error of the web publishing engine")
            .hint("The web publishing engine failed. Its logs on the host (fmdapi.log, wpe.log) know more."),
        Row(952, .session, "session token is not valid")
            .hint(
                "The session ended: 15 minutes without a request, a restart, an administrator, or a database "
                    + "name spelled in another case than at login."
            ),
        Row(953, .host, "limit of data sent out is exceeded")
            .hint(
                "The licence's yearly amount of data sent by the Data API is used up. The administrator's console shows it."
            ),
        Row(954, .request, "XML grammar is not supported"),
        Row(955, .request, "name of the database is missing")
            .hint("The URL names no database."),
        Row(956, .host, "maximum number of sessions is reached")
            .hint(
                "The host allows no more Data API sessions now. Share sessions, log out, or raise the limit on the host."
            ),
        Row(957, .request, "parameters conflict")
            .hint("Two parameters of the request exclude each other."),
        Row(958, .request, "parameter is missing")
            .hint("A parameter that the endpoint needs is not in the request."),
        Row(959, .host, "web publishing is switched off")
            .hint("Switch the FileMaker Data API on in the Admin Console under Connectors."),
        Row(960, .request, "parameter is unknown or not valid")
            .hint(
                "A parameter is unknown to the endpoint or spelled for another one: GET takes _limit and "
                    + "_offset, a find's body limit and offset. An upload needs a part named upload."
            ),

        // Calculations and custom functions
        Row(1200, .calculation, "calculation failed"),
        Row(1201, .calculation, "function has too few parameters"),
        Row(1202, .calculation, "function has too many parameters"),
        Row(1203, .calculation, "calculation ends too early"),
        Row(1204, .calculation, "number, text, field or opening parenthesis expected"),
        Row(1205, .calculation, "comment is not terminated"),
        Row(1206, .calculation, "text constant is not terminated"),
        Row(1207, .calculation, "parentheses are not balanced"),
        Row(1208, .calculation, "operator or function is missing"),
        Row(1209, .calculation, "name is missing in the calculation"),
        Row(1210, .calculation, "plug-in function is registered already"),
        Row(1211, .calculation, "function takes no list"),
        Row(1212, .calculation, "operator expected"),
        Row(1213, .calculation, "variable of Let is defined twice"),
        Row(1214, .calculation, "function needs a field, not an expression"),
        Row(1215, .calculation, "parameter of Get is not valid"),
        Row(1216, .calculation, "GetSummary needs a summary field"),
        Row(1217, .calculation, "break field is not valid"),
        Row(1218, .calculation, "number could not be evaluated"),
        Row(1219, .calculation, "field is used in its own formula"),
        Row(1220, .calculation, "field must be normal or calculated"),
        Row(1221, .calculation, "type must be number, date, time or timestamp"),
        Row(1222, .calculation, "calculation cannot be stored"),
        Row(1223, .calculation, "function is not implemented yet"),
        Row(1224, .calculation, "function does not exist"),
        Row(1225, .calculation, "function is not supported here"),
        Row(1300, .calculation, "name cannot be used"),
        Row(1301, .calculation, "parameter is named like a function of the file"),

        // ODBC and SQL
        Row(1400, .sql, "ODBC driver could not be started"),
        Row(1401, .sql, "ODBC environment could not be allocated"),
        Row(1402, .sql, "ODBC environment could not be freed"),
        Row(1403, .sql, "ODBC connection could not be ended"),
        Row(1404, .sql, "ODBC connection could not be allocated"),
        Row(1405, .sql, "ODBC connection could not be freed"),
        Row(1406, .sql, "check of the SQL interface failed"),
        Row(1407, .sql, "ODBC statement could not be allocated"),
        Row(1408, .sql, "extended error of ODBC"),
        Row(1409, .sql, "error of ODBC"),
        Row(1413, .sql, "ODBC communication link failed"),
        Row(1414, .sql, "SQL statement is too long"),
        Row(1415, .sql, "ODBC connection is being ended"),
        Row(1450, .privileges, "extended privilege for PHP is required"),
        Row(1451, .file, "current file must be a remote one"),

        // Mail
        Row(1501, .mail, "authentication at the SMTP server failed"),
        Row(1502, .mail, "SMTP server refused the connection"),
        Row(1503, .mail, "TLS with the SMTP server failed"),
        Row(1504, .mail, "SMTP server wants encryption"),
        Row(1505, .mail, "SMTP server does not support the authentication"),
        Row(1506, .mail, "mail could not be sent"),
        Row(1507, .mail, "login at the SMTP server failed"),
        Row(1541, .mail, "JSON web token for mail could not be made"),
        Row(1542, .mail, "access token for mail could not be made"),
        Row(1543, .mail, "test mail could not be sent"),

        // Plug-ins
        Row(1550, .plugIn, "plug-in could not be loaded"),
        Row(1551, .plugIn, "plug-in could not be installed"),
        Row(1552, .plugIn, "plug-in error 1552"),
        Row(1553, .plugIn, "plug-in error 1553"),
        Row(1554, .plugIn, "plug-in error 1554"),
        Row(1555, .plugIn, "plug-in error 1555"),
        Row(1556, .plugIn, "plug-in error 1556"),
        Row(1557, .plugIn, "plug-in error 1557"),
        Row(1558, .plugIn, "plug-in error 1558"),
        Row(1559, .plugIn, "plug-in error 1559"),

        // Requests a script sends (Insert from URL)
        Row(1626, .network, "protocol of the URL is not supported"),
        Row(1627, .network, "authentication for the URL failed"),
        Row(1628, .network, "TLS failed"),
        Row(1629, .network, "connection timed out"),
        Row(1630, .network, "URL is malformed"),
        Row(1631, .network, "connection failed"),
        Row(1632, .network, "certificate has expired"),
        Row(1633, .network, "certificate is self-signed"),
        Row(1634, .network, "certificate could not be verified"),
        Row(1635, .network, "connection is not encrypted"),
        Row(1638, .host, "host allows no new connections")
            .hint("The host is full or about to stop. Try again later."),

        // REST
        Row(1700, .request, "resource does not exist")
            .hint("No such endpoint on this host: check the path and the version of the Data API."),
        Row(1701, .host, "host cannot receive requests now")
            .hint("The host or its web publishing engine is starting, stopping or overloaded. Try again later."),
        Row(1702, .account, "authorization header is malformed")
            .hint("The Authorization header is not of a form the host knows."),
        Row(1703, .account, "user, password or web token is wrong")
            .hint("Check user and password or the web token."),
        Row(1704, .request, "HTTP method is not supported"),
        Row(1705, .request, "required HTTP header is missing")
            .hint("A request with a body needs the header Content-Type."),
        Row(1706, .request, "parameter is not supported"),
        Row(1707, .request, "required parameter is missing"),
        Row(1708, .request, "value of a parameter is not valid")
            .hint(
                "A value is of the wrong kind: null in the fields of a record (send an empty text), or malformed "
                    + "JSON in a portal or sort parameter."
            ),
        Row(1709, .request, "operation does not suit the state of the resource"),
        Row(1710, .request, "JSON is malformed")
            .hint("The body is no JSON."),
        Row(1711, .host, "license of the host has expired")
            .hint("Renew the licence of FileMaker Server."),
        Row(1712, .host, "private key file exists already"),
        Row(1713, .host, "request is not supported on the operating system"),
        Row(1714, .account, "name of the external group is not valid"),
        Row(1715, .account, "sign-in with external accounts is not enabled")
            .hint("Switch on external accounts in the Admin Console under Administration, External Authentication."),
    ]
}
