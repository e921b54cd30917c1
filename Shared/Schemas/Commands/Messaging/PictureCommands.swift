package import Base

// The commands about pictures. Their bytes are a third frame. A file is read from its headers and cleaned of what it says about
// its origin; it is never decoded.

/// `picture.add`: a picture of the caller, for a message, a status or the profile. The header's `actor` is required: it is the
/// person. The same bytes again are another upload of the same picture.
///
/// - `invalid` with the field `picture` for a file that is no PNG, JPEG or WebP, is too large, or has a structure that is not
///   understood. The message says what.
/// - `conflict` if too many uploads of the caller wait to be used.
/// - `storage_full` if the pictures take up all of their storage.
package struct AddPicture: ByteCommand {
    package static let name = "picture.add"
    package typealias Reply = UploadedPicture
    package static let maxBytes = MessagingLimits.maxPictureBytes

    /// `true` for the picture of a message that is to be reported: it is stored also while there is no room for others, and can
    /// be used for a report alone. Absent otherwise.
    package let report: Bool?

    package init(forReport: Bool = false) {
        report = forReport ? true : nil
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case report
    }
}

/// `picture.publish`: a picture for a message of the hub. Everybody who has its address sees it. The header's `actor` is
/// required: it is the account, whose right to send the caller of the command has checked. The errors are those of
/// ``AddPicture``, with `conflict` if the hub still has too many pictures that the account has published.
package struct PublishPicture: ByteCommand {
    package static let name = "picture.publish"
    package typealias Reply = UploadedPicture
    package static let maxBytes = MessagingLimits.maxPictureBytes

    package init() {}
}

/// `picture.read`: the bytes of a picture, which are the third frame of the reply.
///
/// For all but ``PictureHolder/published`` the header's `actor` is required. The service checks that the person sees the message
/// or the status. Who sends the command has checked that the caller sees another person's profile, or reads reports. `not_found`
/// for everything else.
package struct ReadPicture: ByteReplyCommand {
    package static let name = "picture.read"
    package typealias Reply = PictureInfo

    /// What has the picture.
    package let of: PictureHolder
    /// Its id, as ``PictureHolder`` says.
    package let id: String

    package init(of holder: PictureHolder, _ id: String) {
        of = holder
        self.id = id
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case of, id
    }
}

extension ReadPicture: Checked {
    package func check() throws(SchemaViolation) {
        try TextLimits(max: AccountName.maxLength).check(id, CodingKeys.id)
    }
}

/// `picture.profile`: another picture of the caller's profile, or none. The header's `actor` is required: it is the person.
/// `not_found` with the field `picture` for one that the caller has not uploaded.
package struct SetProfilePicture: Command {
    package static let name = "picture.profile"
    package typealias Reply = Done

    /// The id of an ``UploadedPicture``; absent for none.
    package let picture: ObjectID?

    package init(_ picture: ObjectID?) {
        self.picture = picture
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case picture
    }
}
