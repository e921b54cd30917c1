/// The endpoints of a client's settings: fixed ones, and patterns for the instances of a service on this machine.
package struct ClientEndpoints: Sendable {
    /// As they were given.
    let texts: [String]
    package let fixed: [String]
    let patterns: [EndpointPattern]

    /// - Parameter texts: `ipc://<path>`, where the file name may have a `*`, or `tcp://<host>:<port>`.
    /// - Throws: ``BusError`` if one of them is no endpoint, or there is none.
    package init(_ texts: [String]) throws(BusError) {
        guard !texts.isEmpty else { throw BusError(.invalidEndpoint, "a client needs at least one endpoint") }
        var (fixed, patterns): ([String], [EndpointPattern]) = ([], [])
        for text in texts {
            if let path = Endpoint.pattern(in: text) {
                patterns.append(try EndpointPattern(path: path, of: text))
            } else {
                _ = try Endpoint(text)
                fixed.append(text)
            }
        }
        (self.texts, self.fixed, self.patterns) = (texts, fixed, patterns)
    }

    /// The fixed endpoints, and those of the instances that run now. A pattern without an instance stands for itself.
    package var current: [String] {
        fixed
            + patterns.flatMap { pattern in
                let found = instances { $0 == pattern ? (try? pattern.scan()) ?? [] : [] }
                return found.isEmpty ? [pattern.text] : found
            }
    }

    /// Whether a service that listens at an endpoint is found here: the endpoint is one of the fixed ones, or a pattern stands for it.
    package func include(_ endpoint: String) -> Bool {
        fixed.contains(endpoint) || patterns.contains { $0.stands(for: endpoint) }
    }

    /// The endpoints of the instances, without the fixed ones, each once.
    ///
    /// - Parameter found: Those that a pattern has found.
    func instances(_ found: (EndpointPattern) -> [String]) -> [String] {
        var known = Set(fixed)
        return patterns.flatMap(found).filter { known.insert($0).inserted }
    }
}
