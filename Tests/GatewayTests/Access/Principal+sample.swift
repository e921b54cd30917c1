import Schemas
import TestSupport
import Testing

@testable import Gateway

extension Credential {
    static func sample(
        _ role: Role, _ account: AccountName, kind: Kind = .signIn, rights: [AccountRight]? = nil, scope: [TopicPrefix]? = nil,
        expires: UnixMilliseconds? = nil, maxExpires: UnixMilliseconds? = nil, confirmedUntil: UnixMilliseconds? = nil,
        secondFactor: SecondFactor = .none, isOperator: Bool? = nil, sequence: Int64 = 0
    ) -> Credential {
        Credential(
            kind: kind, id: ObjectID(), account: account, role: role,
            rights: rights ?? AccountRight.allCases.filter(role.rights.contains),
            scope: scope, expires: expires, maxExpires: maxExpires, isOperator: isOperator, confirmedUntil: confirmedUntil,
            secondFactor: secondFactor, sequence: sequence)
    }
}

extension Principal {
    static func sample(
        _ role: Role, _ account: String = "ann", kind: Credential.Kind = .signIn, rights: [AccountRight]? = nil,
        scope: [TopicPrefix]? = nil, confirmedUntil: UnixMilliseconds? = nil, secondFactor: SecondFactor = .none,
        isOperator: Bool = false
    ) throws -> Principal {
        let credential = Credential.sample(
            role, try #require(AccountName(account)), kind: kind, rights: rights, scope: scope, confirmedUntil: confirmedUntil,
            secondFactor: secondFactor, isOperator: isOperator)
        return Principal(credential, hash: Secret(account).credentialHash)
    }
}
