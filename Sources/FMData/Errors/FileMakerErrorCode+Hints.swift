extension FileMakerErrorCode {
    /// What to look at, per code. A hint names the privilege, the setting or the argument; it never repeats the name.
    static let hints: [FileMakerErrorCode: String] = [
        .commandUnavailable:
            "A script step does not run on a server. Look for steps marked as incompatible with FileMaker Server.",
        .insufficientPrivileges:
            "The account's privilege set does not allow this layout or script. Check its access to layouts and scripts.",
        .requestedDataMissing:
            "The host got no Authorization header. A proxy in between may have removed it.",
        .operationFailedRetry:
            "The host advises to send the request again.",

        .fileMissing:
            "A file the solution refers to is not open on the host, or its data source has another path there.",
        .recordMissing:
            "No record has this id on this layout's table, the offset lies beyond the last record, or the account may "
            + "not see it. A script that loops over records ends with 101 without anything being wrong.",
        .fieldMissing:
            "A field in the request is not on the layout. Fields must be placed on the layout to be read, written or "
            + "found; a portal's fields are named Table::Field; a record id must not be among the fields.",
        .relationshipMissing:
            "The layout's table has no relationship to the table occurrence named in the request.",
        .scriptMissing:
            "No script has this name. The name is compared exactly; folders are no part of it.",
        .layoutMissing:
            "No layout has this name, or the account may not use it. Check the layout and layout.response, and a slash "
            + "in the name.",
        .tableMissing:
            "The layout's table occurrence was removed from the relationships graph.",
        .valueListMissing:
            "A sort order names a value list that the file does not have.",
        .relatedTablesMissing:
            "A related table's file is not open on the host or not accessible to the account.",
        .repetitionInvalid:
            "The field is defined with fewer repetitions. Repetitions count from 1.",
        .windowMissing:
            "A script closed the session's window, or the host ended the session. A new session helps.",
        .dataSourceMissing:
            "An external data source is not reachable from the host; check the credentials given for it at login.",

        .recordAccessDenied:
            "The privilege set limits access to this record: View, Edit, Create or Delete under Records.",
        .fieldNotModifiable:
            "Calculation and summary fields cannot be written; otherwise check \"Prohibit modification of value\" and "
            + "the account's field privileges.",
        .fieldAccessDenied:
            "The privilege set gives no access to a field in the request.",
        .sortFieldAccessDenied:
            "The account may not see a field of the sort order.",
        .recordCreationDenied:
            "The privilege set does not allow to create records in this table.",
        .accountInactive:
            "Activate the account in the file under Manage Security.",
        .passwordExpired:
            "Change the password in FileMaker Pro; the Data API cannot.",
        .invalidAccount:
            "Check user and password, that the account is active, and that its privilege set has the extended "
            + "privilege fmrest. FileMaker Cloud takes Claris IDs only.",
        .tooManyLoginAttempts:
            "Wait some minutes before the next login: each attempt prolongs the lock-out.",
        .licensedUserRequired:
            "The host's licence does not cover this account; the team's manager can add it.",

        .fileInUse:
            "Somebody has the file locked. Try again later.",
        .recordInUse:
            "A user or another session is editing the record. Try again later.",
        .tableInUse:
            "Somebody is working on the table. Try again later.",
        .schemaInUse:
            "A developer is editing the fields or relationships of the file. Try again later.",
        .layoutInUse:
            "A developer is editing the layout. Try again later.",
        .modIdMismatch:
            "The record was changed since it was read. Read it again, then decide which change wins.",
        .transactionLockFailed:
            "The host lost the connection while it locked the records. Nothing was changed; try again.",

        .findCriteriaEmpty:
            "Every criterion is an empty text. To find empty fields use the criterion \"=\".",
        .noRecordsMatch:
            "This is an empty result. Criteria may hold unescaped operators: in addresses, @ stands for any character.",
        .sortOrderInvalid:
            "A sort order must be ascend, descend or the name of a value list.",
        .matchFieldsMissing:
            "A relationship in the file is broken: a match field was deleted.",
        .dataTypeUnsuitable:
            "The operation does not work with this type of field: a container or a global field, perhaps.",
        .fieldTypeUnsuitable:
            "The operation does not work with this kind of field: a calculation, summary or global field, perhaps.",
        .relatedRecordsUnavailable:
            "A related record that the request needs does not exist, or the relationship does not allow to create it.",

        .dateInvalid:
            "Dates go as MM/dd/yyyy unless the request sets dateformats; ISO dates need dateformats 2 and, for "
            + "writing, FileMaker Server 2024.",
        .timeInvalid:
            "Times go as HH:mm:ss, timestamps as MM/dd/yyyy HH:mm:ss unless the request sets dateformats.",
        .numberInvalid:
            "The field's validation wants a number.",
        .valueOutOfRange:
            "The field's validation has a range (\"In range\").",
        .valueNotUnique:
            "The field's validation wants unique values: a record with this value exists already.",
        .valueNotExisting:
            "The field's validation wants a value that already exists in the field (\"Existing value\").",
        .valueNotInList:
            "The field's validation wants a member of a value list. An empty text may count as a value too.",
        .validationCalculationFailed:
            "The field's validation calculation returned false for the value.",
        .findValueInvalid:
            "A criterion does not suit its field, for instance words in a date field.",
        .valueRequired:
            "The field's validation says \"Not empty\": send a value with the record.",
        .relatedValueUnavailable:
            "The related record whose value is needed does not exist.",
        .valueTooLong:
            "The field's validation has a maximum number of characters.",
        .recordModifiedElsewhere:
            "Somebody else committed the record meanwhile. Read it again, then decide which change wins.",

        .fileNotOpened:
            "The database is not open on the host, its name is spelled differently, or the account lacks the extended "
            + "privilege fmrest.",
        .fileNotShared:
            "The file is not shared, or the data source's host is down.",
        .diskFull:
            "The host's disk is full.",
        .hostCapacityExceeded:
            "The host has no room for another connection. Sessions that nobody logs out stay for 15 minutes: look for "
            + "programs that log in for every request.",
        .tooManyOpenFiles:
            "The host has reached its number of open files.",
        .fileClosing:
            "An administrator is closing the file.",
        .disconnectedByHost:
            "An administrator or a schedule disconnected the session.",
        .fileReferenceUnauthorized:
            "A protected file does not know this one: authorize it under Manage Security, File Access.",
        .externalStorageNotWritable:
            "The host cannot write the folder of externally stored containers: check its disk and permissions.",
        .containerTransferFailed:
            "The host could not move the container data: check its storage.",

        .unexpectedError:
            "The web publishing engine failed. Its logs on the host (fmdapi.log, wpe.log) know more.",
        .invalidToken:
            "The session ended: 15 minutes without a request, a restart, an administrator, or a database name spelled "
            + "in another case than at login.",
        .transferLimitExceeded:
            "The licence's yearly amount of data sent by the Data API is used up. The administrator's console shows it.",
        .databaseNameMissing:
            "The URL names no database.",
        .sessionLimitExceeded:
            "The host allows no more Data API sessions now. Share sessions, log out, or raise the limit on the host.",
        .commandsConflict:
            "Two parameters of the request exclude each other.",
        .parameterMissing:
            "A parameter that the endpoint needs is not in the request.",
        .webPublishingDisabled:
            "Switch the FileMaker Data API on in the Admin Console under Connectors.",
        .parameterInvalid:
            "A parameter is unknown to the endpoint or spelled for another one: GET takes _limit and _offset, a find's "
            + "body limit and offset. An upload needs a part named upload.",

        .newConnectionsRefused:
            "The host is full or about to stop. Try again later.",
        .resourceMissing:
            "No such endpoint on this host: check the path and the version of the Data API.",
        .hostUnavailable:
            "The host or its web publishing engine is starting, stopping or overloaded. Try again later.",
        .authorizationMalformed:
            "The Authorization header is not of a form the host knows.",
        .invalidUserOrToken:
            "Check user and password or the web token.",
        .headerMissing:
            "A request with a body needs the header Content-Type.",
        .parameterValueInvalid:
            "A value is of the wrong kind: null in the fields of a record (send an empty text), or malformed JSON in a "
            + "portal or sort parameter.",
        .jsonMalformed:
            "The body is no JSON.",
        .licenseExpired:
            "Renew the licence of FileMaker Server.",
        .externalSignInDisabled:
            "Switch on external accounts in the Admin Console under Administration, External Authentication.",
    ]
}
