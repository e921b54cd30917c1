import FoundationEssentials
import Base
import Schemas
import Store

/// A document with fields of all types.
struct Device: StoredDocument, Equatable {
    let id: ObjectID
    var owner: ObjectID
    var token: String
    var serial: String?
    var kind = Kind.phone
    var seen: Int64 = 0
    var isActive = true
    var ratio = 0.5
    var made = Date(timeIntervalSince1970: 1_700_000_000.123)
    var picture = Data([0, 1, 255])
    var tags: [String] = []
    var parts: [Part] = []
    var limits: [String: Int64] = [:]
    var place = Place(room: "")
    var expires: UnixMilliseconds?

    enum Kind: String, ClosedEnum, IndexValue {
        case phone, tablet
    }

    struct Part: Codable, Equatable {
        let id: ObjectID
        var label: String
    }

    struct Place: Codable, Equatable {
        var room: String
        var floor: Int64?
    }

    enum CodingKeys: String, CodingKey {
        case id = "_id"
        case owner, token, serial, kind, seen
        case isActive = "is_active"
        case ratio, made, picture, tags, parts, limits, place, expires
    }
}

extension Device {
    /// A device with a unique token.
    static func sample(_ number: Int64 = 0, owner: ObjectID = ObjectID()) -> Device {
        Device(id: ObjectID(), owner: owner, token: "t\(number)-\(ObjectID())", seen: number)
    }
}

struct Owner: StoredDocument, Equatable {
    let id: String
    var devices: Int64 = 0

    enum CodingKeys: String, CodingKey {
        case id = "_id"
        case devices
    }
}

enum Devices {
    static let owner = Field("owner", \Device.owner)
    static let token = Field("token", \Device.token)
    static let serial = Field("serial", \Device.serial)
    static let kind = Field("kind", \Device.kind)
    static let seen = Field("seen", \Device.seen)
    static let isActive = Field("is_active", \Device.isActive)
    static let room = Field("place.room", \Device.place.room)
    static let floor = Field("place.floor", \Device.place.floor)
    static let expires = Field("expires", \Device.expires)

    static let all = Collection<Device>(
        "device",
        indexes: [
            .unique(token), .unique(owner, serial), .on(owner, seen), .on(kind, isActive), .on(room), .on(floor),
            .expiring(expires),
        ])
    static let owners = Collection<Owner>("owner")
    static let store = StoreDeclaration("devices", all, owners)
}
