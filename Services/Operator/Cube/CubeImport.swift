import FoundationEssentials
import Base
import NIOHTTP1
import Schemas

/// Makes the edits of a difference through the gateway, one after the other.
struct CubeImport {
    let gateway: GatewayClient
    /// The version of the cube that was compared. An object that another person has changed since then is not edited.
    private let version: String?
    /// The ids of what has been added, by the number of the edit.
    private var added: [Int: ObjectID] = [:]
    /// The versions of the cube after the edits of single objects by this import.
    private var versions: [[ObjectID]: String] = [:]

    init(gateway: GatewayClient, version: String?) {
        self.gateway = gateway
        self.version = version
    }

    /// - Parameter report: Is told of each edit that was made.
    /// - Throws: ``GatewayFailure``, whose text names the edit. The edits before it have been made.
    mutating func apply(_ edits: [CubeEdit], report: (CubeEdit) -> Void) async throws {
        for (number, edit) in edits.enumerated() {
            do {
                try await apply(edit, number: number)
            } catch let failure as GatewayFailure {
                let rest = failure.kind == .unreachable ? "; import again for the rest" : ""
                throw GatewayFailure(
                    failure.kind,
                    "\(edit): \(failure.description) (\(number) of \(edits.count) changes were made\(rest))")
            }
            report(edit)
        }
    }

    private mutating func apply(_ edit: CubeEdit, number: Int) async throws {
        switch edit.action {
        case .add(let draft): added[number] = try await add(draft, edit)
        case .addSubject(let draft): added[number] = try await add(draft, edit)
        case .replace(let draft): try await change(.PUT, edit.kind.rawValue, edit, JSONCoder.encode(draft))
        case .replaceSubject(let draft): try await change(.PUT, edit.kind.rawValue, edit, JSONCoder.encode(draft))
        case .setAccess(let names): try await change(.PUT, "access", edit, JSONCoder.encode(AccessList(access: names)))
        case .setApproval(let approval): try await change(.PUT, "approval", edit, JSONCoder.encode(Approval(approval: approval)))
        case .remove: try await change(.DELETE, edit.kind.rawValue, edit, nil)
        }
    }

    private mutating func add(_ draft: some Encodable, _ edit: CubeEdit) async throws -> ObjectID {
        let parents = edit.path.dropLast().map(id)
        let path = (["", edit.kind.rawValue] + parents.map(\.description)).joined(separator: "/")
        let answer = try await gateway.edit(.POST, path, JSONCoder.encode(draft), ifMatch: nil)
        let object: AddedObject = try gateway.decode(answer.document)
        versions[parents + [object.id]] = answer.version
        return object.id
    }

    private mutating func change(_ method: HTTPMethod, _ route: String, _ edit: CubeEdit, _ body: Data?) async throws {
        let ids = edit.path.map(id)
        let path = (["", route] + ids.map(\.description)).joined(separator: "/")
        versions[ids] = try await gateway.edit(method, path, body, ifMatch: versions[ids] ?? version).version
    }

    private func id(_ reference: CubeReference) -> ObjectID {
        switch reference {
        case .existing(let id): id
        case .added(let number):
            if let id = added[number] { id } else { preconditionFailure("an edit comes after those that add what it is in") }
        }
    }
}

/// The answer to an addition.
private struct AddedObject: Decodable {
    let id: ObjectID

    private enum CodingKeys: String, CodingKey {
        case channelID = "_id"
        case id
    }

    init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        id = try fields.decodeIfPresent(ObjectID.self, forKey: .channelID) ?? fields.decode(ObjectID.self, forKey: .id)
    }
}
