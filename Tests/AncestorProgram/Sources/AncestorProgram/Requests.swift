import FMData

/// Request objects, each with all of its arguments.
enum Requests {
    static let credentials = Credentials(user: "admin", password: "secret")

    static let others = [
        Credentials(oAuthId: "request", oAuthIdentifier: "identifier"), Credentials(clarisId: "token"),
        Credentials(token: "token"), Credentials.invalid,
    ]

    static let dataSourceAuth = FMDataSourceAuth(fmDataSource: [
        .init(database: "externalDb", credentials: .basic(user: "userName", password: "password")),
        .init(database: "other", credentials: .oAuth(requestId: "requestString", identifier: "identifierString")),
    ])

    static let script = ScriptQuery(
        script: "Echo",
        scriptParam: "after",
        scriptPreSort: "Echo",
        scriptPreSortParam: "between",
        scriptPreRequest: "Echo",
        scriptPreRequestParam: "before"
    )

    static let portals = [
        PortalRequest(name: "Phones"),
        PortalRequest(name: "Phones", limit: 30, offset: 1),
    ]

    static let sort = [
        SortQuery(fieldName: "Name"),
        SortQuery(fieldName: "City", sortOrder: .descend),
    ]

    static let range = RecordQuery(
        script: script,
        layoutResponse: "Contacts",
        portal: [portals[1]],
        offset: "1",
        limit: "50",
        sortOrder: sort
    )

    static let find = FindQuery(
        query: [["Name": "*"], ["City": "Nowhere", "omit": "true"]],
        sort: sort,
        script: script,
        offset: 1,
        limit: 50,
        layoutResponse: "Contacts",
        portal: [portals[0]]
    )

    static let person = Person(name: "Bob Jones", city: "Calgary")
    static let phones = NewPhones(phones: [.init(number: "555-0100")])

    /// This still compiles. Its deprecation says that no call sends this `layoutResponse`.
    @available(*, deprecated)
    static func writesWithLayoutResponse() -> [EditRecord<Person, NewPhones>] {
        [
            EditRecord(
                editRecord: person,
                portalData: phones,
                modId: "3",
                script: script,
                layoutResponse: "Contacts"
            ),
            EditRecord(createRecord: person, portalData: phones, script: script, layoutResponse: "Contacts"),
        ]
    }
}
