extension Sandbox {
    /// A fault and the requests that it affects.
    public struct FaultRule: Sendable, Equatable {
        /// The fault.
        public var fault: Fault
        /// The endpoint that the rule affects; nil stands for every endpoint that the fault can affect.
        public var endpoint: Endpoint?
        /// The number of matching requests that pass before the fault occurs. The default is 0.
        public var skipping: Int
        /// The number of times that the fault occurs. The default is 1; nil stands for every time.
        public var count: Int?

        /// Creates a rule.
        public init(_ fault: Fault, on endpoint: Endpoint? = nil, skipping: Int = 0, count: Int? = 1) {
            self.fault = fault
            self.endpoint = endpoint
            self.skipping = skipping
            self.count = count
        }
    }
}

/// The faults that are still to come. The first rule that matches a request and is due takes effect; the others wait.
struct FaultScript: Sendable, Equatable {
    private(set) var rules: [Sandbox.FaultRule] = []

    mutating func add(_ rule: Sandbox.FaultRule) { rules.append(rule) }

    mutating func next(for endpoint: Sandbox.Endpoint) -> Sandbox.Fault? {
        for index in rules.indices where rules[index].fits(endpoint) {
            if rules[index].skipping > 0 {
                rules[index].skipping -= 1
                continue
            }
            let fault = rules[index].fault
            if let count = rules[index].count {
                rules[index].count = count - 1
                if count <= 1 { rules.remove(at: index) }
            }
            return fault
        }
        return nil
    }
}

extension Sandbox.FaultRule {
    fileprivate func fits(_ endpoint: Sandbox.Endpoint) -> Bool {
        (self.endpoint == nil || self.endpoint == endpoint) && fault.strikes(endpoint)
    }
}
