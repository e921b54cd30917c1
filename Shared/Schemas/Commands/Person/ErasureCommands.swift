package import Base

/// `erasure.begin`: erases a person in all services. The devices end at once, and the account can do nothing any more. The reply comes when
/// all services have answered, or shortly before the command's deadline with what is known. Services that have not answered are asked until they have, even after a
/// restart.
///
/// By the person it needs the proof of a device. Without one it is for super users.
package struct BeginErasure: Command, Checked {
    package static let name = "erasure.begin"
    package typealias Reply = ErasureReport

    package let account: AccountName
    package let device: ObjectID?
    package let nonce: Secret?
    package let proof: String?

    package init(of account: AccountName, device: ObjectID? = nil, nonce: Secret? = nil, proof: String? = nil) {
        self.account = account
        self.device = device
        self.nonce = nonce
        self.proof = proof
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case account, device, nonce, proof
    }

    package func check() throws(SchemaViolation) {
        guard device != nil else {
            guard nonce == nil, proof == nil else { throw SchemaViolation(CodingKeys.device, "missing beside a proof") }
            return
        }
        guard let nonce, let proof else { throw SchemaViolation(CodingKeys.proof, "missing: a device needs a nonce and a proof") }
        try DeviceProof.check(nonce, proof, CodingKeys.nonce, CodingKeys.proof)
    }
}

/// `person.erase`: removes everything that the service has of a person. Each service with personal data answers it. Repeated, it removes
/// what is left. When it is answered, nothing of it is in the service's live files any more.
package struct ErasePerson: Command {
    package static let name = "person.erase"

    package struct Reply: Codable, Hashable, Sendable {
        package let removed: [ErasedData]
        /// What stays, one sentence each.
        package let stays: [String]

        package init(removed: [ErasedData], stays: [String]) {
            self.removed = removed
            self.stays = stays
        }
    }

    package let account: AccountName

    package init(_ account: AccountName) {
        self.account = account
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case account
    }
}

/// `person.export`: a page of what the service has of a person. Each service with personal data answers it.
package struct ExportPerson: Command, Checked {
    package static let name = "person.export"

    package struct Reply: Codable, Hashable, Sendable {
        /// Documents by the names of their files, such as `friends.json`. A file may continue on the next page.
        package let files: [String: [JSONValue]]
        /// The `after` of the next page; absent on the last one.
        package let next: String?

        package init(files: [String: [JSONValue]], next: String? = nil) {
            self.files = files
            self.next = next
        }
    }

    package let account: AccountName
    package let after: String?

    package init(_ account: AccountName, after: String? = nil) {
        self.account = account
        self.after = after
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case account, after
    }

    package func check() throws(SchemaViolation) {
        try TextLimits(max: 1_000).check(after, CodingKeys.after)
    }
}
