import Base
import Schemas
import TestSupport
import Testing

@testable import Gateway

/// How another person stands to a caller.
enum PersonRelation: String, CaseIterable, Sendable {
    case oneself, friend, asked, received, stranger
    /// The caller has blocked the other.
    case blocked
    /// The other has blocked the caller.
    case blocking
    case staff, erased, disabled
    /// Nobody has ever had the name.
    case nobody

    /// Whether the other must look as if nobody had the name.
    var isHidden: Bool { [.blocking, .staff, .erased, .disabled, .nobody].contains(self) }
}

/// A caller, and one other person in each relation. Each has something to hide: a profile and a device.
struct PersonWorld: Sendable {
    let gateway: RunningGateway
    /// The beginning of all names.
    let prefix: String
    let caller: DeviceSession
    private(set) var devices: [PersonRelation: DeviceSession] = [:]

    /// - Parameter visibility: Who sees the fields of the others' profiles; `nil` for no choice.
    init(at gateway: RunningGateway, prefix: String, visibility: Visibility?) async throws {
        self.gateway = gateway
        self.prefix = prefix
        caller = try await gateway.student(prefix + "oneself")
        for relation in PersonRelation.allCases where relation != .oneself && relation != .nobody {
            devices[relation] = try await make(relation, visibility)
        }
    }

    func name(of relation: PersonRelation) -> String { prefix + relation.rawValue }

    /// What must not be seen of a person where nothing of the person may be.
    func secrets(of relation: PersonRelation) -> [String] {
        let name = name(of: relation)
        let device = devices[relation].map { ["\($0.device)", $0.token] } ?? []
        return relation == .oneself ? [] : ["F-\(name)", "L-\(name)", "G-\(name)", "B-\(name)"] + device
    }

    private func make(_ relation: PersonRelation, _ visibility: Visibility?) async throws -> DeviceSession? {
        let name = name(of: relation)
        guard relation != .staff else {
            try await gateway.addAccount(name)
            return nil
        }
        let other = try await gateway.student(name)
        let choice = visibility.map { JSONValue.string($0.rawValue) }
        let fields = ["first_name", "last_name", "born", "gender", "bio"]
        let set = try await other.request(
            "PUT", "/user/profile",
            body: [
                "first_name": "F-\(name)", "last_name": "L-\(name)", "gender": "G-\(name)", "bio": "B-\(name)",
                "born": "2004-02-29",
                "visibility": .object(choice.map { choice in fields.map { .init($0, choice) } } ?? []),
            ])
        #expect(set.status == 200, "\(set)")
        let own = JSONValue.string(caller.account)
        switch relation {
        case .friend: try await caller.befriend(other)
        case .asked: try await expect(200, caller.request("POST", "/user/friends", body: ["account": .string(name)]))
        case .received: try await expect(200, other.request("POST", "/user/friends", body: ["account": own]))
        case .blocked: try await expect(204, caller.request("PUT", "/user/blocked/\(name)"))
        case .blocking: try await expect(204, other.request("PUT", "/user/blocked/\(caller.account)"))
        // They were friends before.
        case .erased:
            try await caller.befriend(other)
            try await expect(204, gateway.request("DELETE", "/account/\(name)"))
        case .disabled:
            try await caller.befriend(other)
            try await expect(200, gateway.request("PUT", "/account/\(name)", body: #"{"disabled":true}"#))
        case .oneself, .stranger, .staff, .nobody: break
        }
        return other
    }

    private func expect(_ status: Int, _ answer: HTTPAnswer) {
        #expect(answer.status == status, "\(answer)")
    }
}

extension RunningGateway {
    /// A student whom the operator has added, signed in on a device. Registrations of one address are limited.
    func student(_ account: String) async throws -> DeviceSession {
        try await addAccount(account, "student")
        return try await session(account)
    }
}
