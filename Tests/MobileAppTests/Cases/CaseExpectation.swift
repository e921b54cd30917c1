import Base
import TestSupport

/// Compares what the app shows with what a case says.
extension CasePhone {
    /// The members of `then` whose elements are named by one of their members.
    private static let named = ["messages": "key", "cards": "title", "data": "data", "subjects": "path"]
    private static let inAnyOrder: Set = [
        "subjects", "subscribed", "muted", "channels_off", "topics", "received", "opened", "channels",
    ]
    private static let times: Set = ["timestamp", "expires"]
    private static let paths: Set = [
        "GET /channel", "POST /message/since", "GET /broadcast/active", "POST /receipt", "GET /user/challenge", "PUT /user",
        "POST /user", "POST /user/token", "GET /user", "DELETE /user/devices/ID",
    ]

    /// Waits until the app is as a case says.
    ///
    /// - Throws: ``CaseMistake``, or ``CaseFailure`` with all differences.
    func expect(_ then: JSONValue, _ place: String) async throws {
        var differences: [String] = []
        do {
            try await eventually(within: .seconds(60)) {
                differences = try await self.differences(from: then)
                return differences.isEmpty
            }
        } catch is TooLate {
            throw CaseFailure("\(place): \(differences.joined(separator: "; "))")
        }
    }

    func differences(from then: JSONValue) async throws -> [String] {
        guard let members = then.members else { throw CaseMistake("then: expected an object") }
        var differences: [String] = []
        for member in members {
            switch member.name {
            case "library": differences += try await self.differences(from: member.value)
            case "asked": differences += try requestDifferences(member.value)
            default: try await compare(member.value, with: actual(member.name), as: member.name, &differences)
            }
        }
        return differences
    }

    private func requestDifferences(_ asked: JSONValue) throws -> [String] {
        var differences: [String] = []
        for member in asked.members ?? [] {
            guard Self.paths.contains(member.name) else { throw CaseMistake("unknown: then.asked.\(member.name)") }
            let requests = try requests(member.name)
            let actual: JSONValue = member.value.integer == nil ? .array(requests) : .integer(requests.count)
            try compare(member.value, with: actual, as: member.name, &differences)
        }
        return differences
    }

    private func compare(_ expected: JSONValue, with actual: JSONValue, as name: String, _ differences: inout [String]) throws {
        let isSame = try isSame(names.filled(expected), actual, name)
        if !isSame { differences.append("\(name): expected \(expected), got \(actual)") }
    }

    private func isSame(_ expected: JSONValue, _ actual: JSONValue, _ name: String) throws -> Bool {
        if Self.times.contains(name), let moment = expected.moment { return actual.integer == moment }
        // A file says what it says, in whatever members.
        guard name != "json", let elements = expected.elements, let others = actual.elements else { return expected == actual }
        guard elements.count == others.count else { return false }
        for (element, other) in zip(sorted(elements, name), sorted(others, name)) {
            guard try isSameElement(element, other, name) else { return false }
        }
        return true
    }

    private func isSameElement(_ expected: JSONValue, _ actual: JSONValue, _ name: String) throws -> Bool {
        guard actual.members != nil else { return expected == actual }
        guard let members = expected.members else { return expected == actual[Self.named[name] ?? ""] }
        return try members.allSatisfy { member in
            guard let value = actual[member.name] else { throw CaseMistake("unknown: \(member.name) of \(name)") }
            return try isSame(member.value, value, member.name)
        }
    }

    private func sorted(_ elements: [JSONValue], _ name: String) -> [JSONValue] {
        guard Self.inAnyOrder.contains(name) else { return elements }
        func text(_ element: JSONValue) -> String { element.string ?? element[Self.named[name] ?? ""]?.string ?? "" }
        return elements.sorted { text($0) < text($1) }
    }
}
