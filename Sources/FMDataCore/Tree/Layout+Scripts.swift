public import OpenCombine

extension DataAPI.Layout {
    /// Runs a script with this layout as its context.
    ///
    ///     stock.runScript("Count", parameter: "A-7")
    ///     stock.runScript("Reserve", parameter: .json(Reservation(article: "A-7", pieces: 3)))
    ///     stock.runScript("Unlock", parameter: .confidential(pin))
    ///
    /// Publishes the script's result and error. The error is a value: a script that ends with a code of its own has
    /// still run; `failOnScriptError(except:)` makes it a failure. Each subscription runs the script; after cancelling,
    /// a script that has begun runs on. Fails with FileMaker code 104 when there is no such script.
    ///
    /// The Data API runs a script by a GET, whose URL web servers log and limit. A long parameter is sent in it
    /// unchanged: the guide asks for 2,000 characters at most, many servers accept 8,000. When a server does not, the
    /// publisher fails with a hint at the length.
    ///
    /// A confidential parameter is sent in the body of the one call that changes nothing by itself: a find for all
    /// records of the layout, which returns one of them and runs the script after it. What differs then:
    ///
    /// - The layout's metadata are requested first, since a find has to name a field. The layout needs a field of its
    ///   own table that is stored and not global, and the table a record that the account may see. Otherwise the script
    ///   does not run and the publisher fails with ``FMRest/APIError/Code/invalidRequest``.
    /// - The script starts with all records as its found set, and with one record as the current one, as it does by a
    ///   GET, but after a find, which takes its time in a large table.
    /// - A script that leaves its layout makes FileMaker answer with a record of another layout; that record is
    ///   ignored.
    ///
    /// - Note: One value. See <doc:Calls>.
    ///
    /// - Parameters:
    ///   - name: the script's name.
    ///   - parameter: the script's parameter: a text literal, `.text(…)`, `.json(…)` or `.confidential(…)`. The default
    ///     is none.
    ///   - isolation: where the values arrive; leave it out.
    ///
    /// Source: Claris Data API guide, "Run a script", `GET …/script/{script}`, "Run a script with another request" and
    /// "Perform a find request". FileMaker Server 18 and later.
    public func runScript(
        _ name: String,
        parameter: DataAPI.ScriptParameter? = nil,
        isolation: (any Actor)? = #isolation
    ) -> AnyPublisher<DataAPI.ScriptResponse, FMRest.APIError> {
        run(name, with: parameter).delivered(on: isolation, by: database, mayHaveWritten: true)
    }

    /// Runs a script and reads its result.
    ///
    /// ```swift
    /// let people = database.addLayout("Contacts")
    /// let echo = people.runScript("Echo", parameter: .json(["A-7", "B-9"]), returning: [String].self)
    /// print(try await echo.firstValue())                          // ["A-7", "B-9"]
    /// ```
    ///
    /// Publishes the script's result. It is read as JSON; `String.self` takes the text unchanged, and an optional type
    /// is `nil` when the script returns nothing. Fails with ``FMRest/APIError/Code/script`` when the script ends with
    /// an error, and with ``FMRest/APIError/Code/decoding`` when the result is not of the type: the reason names the
    /// script, the key of its JSON, the value there and what was expected. For everything else see
    /// ``runScript(_:parameter:isolation:)``.
    ///
    /// - Note: One value. See <doc:Calls>.
    ///
    /// - Parameters:
    ///   - name: the script's name.
    ///   - parameter: the script's parameter. The default is none.
    ///   - type: the type of the result.
    ///   - accepted: codes other than 0 with which a script may end: `[.recordMissing]` for one that loops over
    ///     records. The default is none.
    ///   - isolation: where the values arrive; leave it out.
    public func runScript<Value: Decodable>(
        _ name: String,
        parameter: DataAPI.ScriptParameter? = nil,
        returning type: Value.Type,
        accepting accepted: Set<FileMakerErrorCode> = [],
        isolation: (any Actor)? = #isolation
    ) -> AnyPublisher<Value, FMRest.APIError> {
        run(name, with: parameter)
            .failOnScriptError(except: accepted)
            .tryMap { try $0.value(of: type, self.database.server.config, script: name) }
            .mapError { FMRest.APIError(wrapping: $0, otherwise: .decoding) }
            .delivered(on: isolation, by: database, mayHaveWritten: true)
    }

    private func run(
        _ script: String,
        with parameter: DataAPI.ScriptParameter?
    ) -> AnyPublisher<DataAPI.ScriptResponse, FMRest.APIError> {
        OnDemandPublisher {
            do {
                let text = try parameter?.text(database.server.config.encoding)
                if let parameter, parameter.isConfidential, let text {
                    return forOneCall.runByFind(script, parameter: text)
                }
                return database.perform { .run(script: script, parameter: text, in: self) }.eraseToAnyPublisher()
            } catch {
                return Fail(error: FMRest.APIError(wrapping: error, otherwise: .encoding)).eraseToAnyPublisher()
            }
        }
        .eraseToAnyPublisher()
    }

    /// Runs a script with a confidential parameter, by a find.
    ///
    /// Why a find: a create or a duplicate makes a record; an edit needs one, locks it and needs the right to write; a
    /// login and the globals take no script. Why the script runs after the find and not before: a find that matches
    /// nothing fails, and the result of a script before it would be lost although the script has run.
    private func runByFind(
        _ script: String,
        parameter: String
    ) -> AnyPublisher<DataAPI.ScriptResponse, FMRest.APIError> {
        typealias Answer = DataAPI.RecordResponse<DataAPI.EmptyPortal, DataAPI.EmptyPortal>
        return getLayoutMetadata(isolation: .insideACall)
            .flatMap { metadata -> AnyPublisher<Answer, FMRest.APIError> in
                self.database.perform {
                    guard let field = metadata.fieldMetaData.first(where: \.canBeSearched) else {
                        throw FMRest.APIError.noBody("The layout \"\(self.name)\" has no field that a find could name.")
                    }
                    return try .find(
                        in: self,
                        query: DataAPI.FindQuery(
                            // `*` or `=` (not empty or empty) matches every record, whatever the field's type.
                            query: [[field.name: "*"], [field.name: "="]],
                            script: DataAPI.ScriptQuery(script: script, scriptParam: parameter, isConfidential: true),
                            limit: 1,
                            portal: []
                        )
                    )
                }
                .eraseToAnyPublisher()
            }
            .mapError { error in
                guard error.fileMakerCode == .noRecordsMatch else { return error }
                return .noBody("The layout \"\(self.name)\" shows no record, so the script did not run.")
            }
            .map { answer in
                var response = answer.scriptResponse ?? DataAPI.ScriptResponse()
                response.messages = answer.messages
                return response
            }
            .eraseToAnyPublisher()
    }
}

extension FMRest.APIError {
    fileprivate static func noBody(_ reason: String) -> FMRest.APIError {
        FMRest.APIError(
            .invalidRequest,
            reason: reason,
            hint:
                "A confidential parameter travels in the body of a find: run the script on a layout of a table with records, "
                + "with a field of its own."
        )
    }
}

extension DataAPI.Layout.LayoutMetaData.FieldMetaData {
    /// Whether a find for all records can use this field: it is of the layout's own table, stored, not global and no
    /// container.
    fileprivate var canBeSearched: Bool {
        // A field named "omit" would be read as the keyword of a request, not as a field.
        type == .normal && !global && result != .container && !["", "omit"].contains(name) && !name.contains("::")
    }
}

extension DataAPI.ScriptResponse {
    /// Reads the result of the script that the call ran by itself.
    fileprivate func value<Value: Decodable>(
        of type: Value.Type,
        _ config: DataAPI.Config,
        script: String
    ) throws(FMRest.APIError) -> Value {
        if let text = scriptResult as? Value { return text }
        // A script without a result counts as `null`: correct for an optional, and for all other types an error that
        // names the type.
        let json = scriptResult ?? "null"
        do {
            return try FMDecoder(options: config.decoding).decode(type, from: Array(json.utf8))
        } catch {
            throw ScriptResultProblem(script: script, type: type, result: scriptResult, error: error).apiError
        }
    }
}
